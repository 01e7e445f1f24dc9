"""Arrow columns to record batches.

Rows keep their order; a batch ends where the next row would pass `batch_bytes_max`. The limit counts the records before
compression, and a payload that compression does not make smaller stays plain, so no
batch passes the limit whatever the codec does. All batches are made before one is returned: an error means none.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.errors import FencepostError, invariant
from fencepost.records.columnar.arrow import bytes_column, record_columns
from fencepost.records.columnar.columns import BytesColumn, Longs, RecordColumns
from fencepost.records.compression import Compression, compress
from fencepost.records.header import (
    HEADER_BYTES,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    read_header,
    rewrite_header,
    write_header,
)
from fencepost.records.record import increment_sequence
from fencepost.records.varint import encode_varint
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE

BATCH_BYTES_MAX = 1024 * 1024
"""Just below the default of a topic's `max.message.bytes`."""
_KEY_BYTES_SHOWN = 64


class ProducerStamp(NamedTuple):
    """What a producer writes into the header; `base_sequence` is that of the first record."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    is_transactional: bool = False

    def after(self, record_count: int) -> "ProducerStamp":
        """The stamp of the batch that follows one of `record_count` records."""
        if self.base_sequence == NO_SEQUENCE:
            return self
        return self._replace(base_sequence=increment_sequence(self.base_sequence, record_count))


class RecordTooLarge(FencepostError):  # noqa: N818 - it names a state of the input, as `InvalidRecordBatch`
    """One record that fits no batch, by row and key."""

    def __init__(self, *, row: int, key: bytes | None, size_bytes: int, batch_bytes_max: int) -> None:
        shown = repr(key) if key is None or len(key) <= _KEY_BYTES_SHOWN else f"{key[:_KEY_BYTES_SHOWN]!r}..."
        super().__init__(
            f"row {row} with key {shown} makes a batch of {size_bytes} bytes before compression: "
            f"the limit is {batch_bytes_max}"
        )
        self.row = row
        self.key = key
        self.size_bytes = size_bytes
        self._batch_bytes_max = batch_bytes_max

    def at(self, row: int) -> "RecordTooLarge":
        """The same, of a row that has another number where it comes from."""
        return RecordTooLarge(row=row, key=self.key, size_bytes=self.size_bytes, batch_bytes_max=self._batch_bytes_max)


def encode_batches(
    records: pa.RecordBatch | pa.Table,
    *,
    default_timestamp_ms: int,
    compression: Compression = Compression.NONE,
    batch_bytes_max: int = BATCH_BYTES_MAX,
) -> list[memoryview]:
    """Record batches of the rows of `records`: columns `value` and optionally `key`, `headers`, `timestamp`.

    A row without a timestamp gets `default_timestamp_ms`.
    """
    batches: list[memoryview] = []
    first_row = 0
    # An array of more than 2 GiB cannot be combined: its pieces are encoded one after the other.
    for part in records.combine_chunks().to_batches() if isinstance(records, pa.Table) else [records]:
        columns = record_columns(part, default_timestamp_ms=default_timestamp_ms)
        try:
            batches += encode_columns(columns, compression=compression, batch_bytes_max=batch_bytes_max, is_sealed=True)
        except RecordTooLarge as problem:
            raise problem.at(first_row + problem.row) from None
        first_row += len(part)
    return batches


def encode_columns(
    columns: RecordColumns, *, compression: Compression, batch_bytes_max: int, is_sealed: bool
) -> list[memoryview]:
    """The same for columns that were looked at before. Without a seal a batch lacks its checksum: its header will be
    written once more."""
    from fencepost.records.columnar import kernels

    if batch_bytes_max < 1:
        raise ValueError(f"batch_bytes_max {batch_bytes_max} must be positive")
    row_count = len(columns.timestamps)
    body_lengths = np.empty(row_count, np.int64)
    plan = np.empty((row_count, 2), np.int64)
    batch_count = kernels.plan_batches(columns, batch_bytes_max - HEADER_BYTES, body_lengths, plan)
    if batch_count < 0:
        raise _too_large(columns, ~batch_count, int(body_lengths[~batch_count]), batch_bytes_max)
    batches = []
    start_row = 0
    for end_row, payload_bytes in plan[:batch_count].tolist():
        batch = np.empty(HEADER_BYTES + payload_bytes, np.uint8)  # unlike a bytearray, without writing zeros first
        written_bytes = kernels.write_records(columns, start_row, end_row, body_lengths, batch[HEADER_BYTES:])
        invariant(written_bytes == payload_bytes, f"a batch takes the {payload_bytes} bytes that were planned")
        header = _plain_header(columns.timestamps[start_row:end_row])
        batches.append(_finished(header, batch.data, compression, is_sealed=is_sealed))
        start_row = end_row
    return batches


def murmur2_partitions(keys: pa.Array | pa.ChunkedArray | BytesColumn, partition_count: int) -> NDArray[np.int32]:
    """Each key's partition by Kafka's default partitioner; -1 for a null key, which the caller may put anywhere."""
    from fencepost.records.columnar import kernels

    if partition_count < 1:
        raise ValueError(f"partition_count {partition_count} must be positive")
    if isinstance(keys, pa.ChunkedArray):
        parts = [murmur2_partitions(chunk, partition_count) for chunk in keys.chunks]
        return np.concatenate([np.empty(0, np.int32), *parts])
    column = keys if isinstance(keys, BytesColumn) else bytes_column(keys, name="key")
    partitions = np.empty(len(column.lengths), np.int32)
    kernels.murmur2_partitions(column, partition_count, partitions)
    return partitions


def stamp_producer(batch: bytearray | memoryview, producer: ProducerStamp) -> None:
    """Give a sealed batch to another producer, in place: a retry under a new epoch sends the same records."""
    header = read_header(batch)
    attributes = header.attributes & ~TRANSACTIONAL_FLAG | producer.is_transactional * TRANSACTIONAL_FLAG
    producer_id, producer_epoch, base_sequence, _ = producer
    stamped = header._replace(attributes=attributes, producer_id=producer_id, producer_epoch=producer_epoch)
    rewrite_header(batch, stamped._replace(base_sequence=base_sequence))


def _plain_header(timestamps: Longs) -> BatchHeader:
    return BatchHeader(
        last_offset_delta=len(timestamps) - 1,
        base_timestamp=int(timestamps[0]),
        max_timestamp=int(timestamps.max()),
        record_count=len(timestamps),
    )


def _finished(header: BatchHeader, batch: memoryview, compression: Compression, *, is_sealed: bool) -> memoryview:
    """The batch with its header filled in and its payload compressed, if that makes it smaller."""
    payload = batch[HEADER_BYTES:]
    if compression != Compression.NONE:
        compressed = compress(payload, compression)
        if len(compressed) < len(payload):
            header = header._replace(attributes=header.attributes | compression)
            return memoryview(bytearray(write_header(header, compressed, is_sealed=is_sealed)) + compressed)
    batch[:HEADER_BYTES] = write_header(header, payload, is_sealed=is_sealed)
    return batch


def _too_large(columns: RecordColumns, row: int, body_bytes: int, batch_bytes_max: int) -> RecordTooLarge:
    data, starts, lengths = columns.keys
    key = None if lengths[row] < 0 else data[starts[row] : starts[row] + lengths[row]].tobytes()
    size_bytes = HEADER_BYTES + len(encode_varint(body_bytes)) + body_bytes
    return RecordTooLarge(row=row, key=key, size_bytes=size_bytes, batch_bytes_max=batch_bytes_max)
