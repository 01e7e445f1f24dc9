"""Arrow columns to record batches.

Rows keep their order; a batch ends where the next row would pass `batch_bytes_max` or `record_count_max`. The limit on
bytes counts the records before compression, and a payload that compression does not make smaller stays plain, so no
batch passes the limit whatever the codec does. All batches are made before one is returned: an error means none.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from fencepost.errors import FencepostError, invariant
from fencepost.records.columnar.arrow import record_columns
from fencepost.records.columnar.columns import Longs, PlannedBatch, RecordColumns
from fencepost.records.compression import Compression, compress
from fencepost.records.header import (
    HEADER_BYTES,
    MAGIC,
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
RECORD_COUNT_MAX = 2**31 - 1
_NO_LEADER_EPOCH = -1
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


NO_PRODUCER = ProducerStamp()


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
    producer: ProducerStamp = NO_PRODUCER,
    batch_bytes_max: int = BATCH_BYTES_MAX,
    record_count_max: int = RECORD_COUNT_MAX,
) -> list[memoryview]:
    """Record batches of the rows of `records`: columns `value` and optionally `key`, `headers`, `timestamp`.

    A row without a timestamp gets `default_timestamp_ms`. Sequences go on from batch to batch.
    """
    if batch_bytes_max < 1 or record_count_max < 1:
        raise ValueError(f"batch_bytes_max {batch_bytes_max} and record_count_max {record_count_max} must be positive")
    limits = _Limits(batch_bytes_max, min(record_count_max, RECORD_COUNT_MAX))
    batches: list[memoryview] = []
    first_row = 0
    # An array of more than 2 GiB cannot be combined: its pieces are encoded one after the other.
    for part in records.combine_chunks().to_batches() if isinstance(records, pa.Table) else [records]:
        columns = record_columns(part, default_timestamp_ms=default_timestamp_ms)
        for header, batch in _encode(columns, limits, first_row):
            batches.append(_finished(_stamped(header, producer), batch, compression))
            producer = producer.after(header.record_count)
        first_row += len(part)
    return batches


def encode_columns(
    columns: RecordColumns,
    *,
    compression: Compression,
    batch_bytes_max: int,
    is_sealed: bool,
) -> list[memoryview]:
    """The same for columns that were looked at before. A batch without a seal has no checksum: whoever stamps it adds
    that anyway."""
    limits = _Limits(batch_bytes_max, RECORD_COUNT_MAX)
    return [_finished(header, batch, compression, is_sealed=is_sealed) for header, batch in _encode(columns, limits, 0)]


def stamp_producer(batch: bytearray | memoryview, producer: ProducerStamp) -> None:
    """Give a sealed batch to another producer, in place: a retry under a new epoch sends the same records."""
    rewrite_header(batch, _stamped(read_header(batch), producer))


class _Limits(NamedTuple):
    batch_bytes_max: int
    record_count_max: int


def _encode(columns: RecordColumns, limits: _Limits, first_row: int) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Headers and plain batches, with room for the header in front."""
    from fencepost.records.columnar import kernels

    row_count = len(columns.timestamps)
    body_lengths = np.empty(row_count, np.int64)
    plan = np.empty((row_count, len(PlannedBatch)), np.int64)
    payload_bytes_max = limits.batch_bytes_max - HEADER_BYTES
    batch_count = kernels.plan_batches(columns, payload_bytes_max, limits.record_count_max, body_lengths, plan)
    if batch_count < 0:
        raise _too_large(columns, ~batch_count, first_row, int(body_lengths[~batch_count]), limits.batch_bytes_max)
    start_row = 0
    for end_row, payload_bytes in plan[:batch_count].tolist():
        batch = np.empty(HEADER_BYTES + payload_bytes, np.uint8)  # unlike a bytearray, nobody fills it with zeros first
        written_bytes = kernels.write_records(columns, start_row, end_row, body_lengths, batch[HEADER_BYTES:])
        invariant(written_bytes == payload_bytes, f"a batch takes the {payload_bytes} bytes that were planned")
        yield _plain_header(columns.timestamps[start_row:end_row]), batch.data
        start_row = end_row


def _plain_header(timestamps: Longs) -> BatchHeader:
    return BatchHeader(
        base_offset=0,
        batch_length=0,
        leader_epoch=_NO_LEADER_EPOCH,
        magic=MAGIC,
        crc=0,
        attributes=0,
        last_offset_delta=len(timestamps) - 1,
        base_timestamp=int(timestamps[0]),
        max_timestamp=int(timestamps.max()),
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
        base_sequence=NO_SEQUENCE,
        record_count=len(timestamps),
    )


def _stamped(header: BatchHeader, producer: ProducerStamp) -> BatchHeader:
    attributes = header.attributes & ~TRANSACTIONAL_FLAG
    return header._replace(
        attributes=attributes | TRANSACTIONAL_FLAG if producer.is_transactional else attributes,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=producer.base_sequence,
    )


def _finished(
    header: BatchHeader, batch: memoryview, compression: Compression, *, is_sealed: bool = True
) -> memoryview:
    """The batch with its header filled in and its payload compressed, if that makes it smaller."""
    payload = batch[HEADER_BYTES:]
    if compression != Compression.NONE:
        compressed = compress(payload, compression)
        if len(compressed) < len(payload):
            header = header._replace(attributes=header.attributes | compression)
            return memoryview(bytearray(write_header(header, compressed, is_sealed=is_sealed)) + compressed)
    batch[:HEADER_BYTES] = write_header(header, payload, is_sealed=is_sealed)
    return batch


def _too_large(
    columns: RecordColumns, row: int, first_row: int, body_bytes: int, batch_bytes_max: int
) -> RecordTooLarge:
    data, starts, lengths = columns.keys
    key = None if lengths[row] < 0 else data[starts[row] : starts[row] + lengths[row]].tobytes()
    size_bytes = HEADER_BYTES + len(encode_varint(body_bytes)) + body_bytes
    return RecordTooLarge(row=first_row + row, key=key, size_bytes=size_bytes, batch_bytes_max=batch_bytes_max)
