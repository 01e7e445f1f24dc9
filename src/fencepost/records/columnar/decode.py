"""Record batches to Arrow columns.

The input is what a fetch answers: consecutive batches, the last one perhaps cut short. Control batches, batches that
the caller skips (aborted transactions) and records outside a range of offsets are left out; nothing else is. Whatever
cannot be read is an `InvalidRecordBatch`: lengths are checked before use, counts before memory is taken for them.
Columns are those of Spark's `kafka` source, without topic and partition; they share no memory with the input.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fencepost.records.columnar.arrow import HEADERS_TYPE, TIMESTAMP_TYPE, binary_array, headers_array
from fencepost.records.columnar.columns import (
    RECORD_BYTES_MIN,
    Bytes,
    BytesColumn,
    Field,
    Longs,
    Payload,
    Problem,
)
from fencepost.records.compression import Compression, decompress
from fencepost.records.header import HEADER_BYTES, BatchHeader, TimestampType, check_crc, split_batches
from fencepost.records.record import InvalidRecordBatch
from fencepost.types import Buffer, OffsetRange

ALL_OFFSETS = OffsetRange(0, 2**63 - 1)
PAYLOAD_BYTES_ENOUGH = 512 * 1024 * 1024
"""Decoding stops behind the batch that passes this, so that one array can hold a column."""

RECORD_SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", TIMESTAMP_TYPE, nullable=False),
        pa.field("timestampType", pa.int32(), nullable=False),
    ]
)
RECORD_SCHEMA_WITH_HEADERS = RECORD_SCHEMA.append(pa.field("headers", HEADERS_TYPE))

SkipBatch = Callable[[BatchHeader, memoryview], bool]
"""Called with every batch in order, control batches too, so that a `read_committed` reader can follow markers."""

_PROBLEMS = {
    Problem.VARINT_CUT_SHORT: "a varint is cut short",
    Problem.VARINT_TOO_LONG: "a varint is too long",
    Problem.LENGTH_PAST_END: "a length passes the end",
    Problem.HEADER_COUNT: "the number of headers is negative or more than there is room for",
    Problem.HEADER_KEY: "a header has no key",
    Problem.RECORD_SIZE: "its fields do not add up to its length",
    Problem.PAYLOAD_SIZE: "bytes are left behind the last record",
}


class DecodedBatches(NamedTuple):
    """Records, and where to read on: the offset, and the bytes of the input that were used."""

    records: pa.RecordBatch
    next_offset: int
    consumed_bytes: int


def decode_batches(
    buffer: Buffer,
    *,
    offsets: OffsetRange = ALL_OFFSETS,
    skip_batch: SkipBatch | None = None,
    with_headers: bool = True,
    check_crcs: bool = True,
) -> DecodedBatches:
    """The records of consecutive batches as one `pyarrow.RecordBatch`.

    Stops at a last batch that is cut short, at `offsets.end_offset`, and when enough for one array was read; holes
    left by markers and skipped batches count into `next_offset`.
    """
    payloads = _Payloads(memoryview(buffer))
    next_offset, consumed_bytes = offsets.start_offset, 0
    for header, batch in split_batches(buffer, drop_partial_tail=True):
        if header.base_offset >= offsets.end_offset or payloads.size_bytes >= PAYLOAD_BYTES_ENOUGH:
            break
        if check_crcs and not check_crc(batch):
            raise InvalidRecordBatch(f"batch at offset {header.base_offset} fails its checksum")
        is_skipped = skip_batch is not None and skip_batch(header, batch)
        if not (is_skipped or header.is_control or header.last_offset < offsets.start_offset):
            payloads.add(header, batch, consumed_bytes)
        next_offset = max(next_offset, min(header.last_offset + 1, offsets.end_offset))
        consumed_bytes += header.size_bytes
    records = _records(*payloads.table(), offsets, with_headers)
    return DecodedBatches(records, next_offset, consumed_bytes)


class _Payloads:
    """Where the records of each batch are: in the input itself or, if any is compressed, in one joined buffer."""

    def __init__(self, buffer: memoryview) -> None:
        self.size_bytes = 0
        self._buffer = buffer
        self._pieces: list[Buffer] = []
        self._lines: list[tuple[int, ...]] = []
        self._is_plain = True

    def add(self, header: BatchHeader, batch: memoryview, position: int) -> None:
        payload: Buffer = batch[HEADER_BYTES:]
        if header.compression != Compression.NONE and payload:
            self._is_plain = False
            payload = decompress(payload, header.compression)
        if not 0 <= header.record_count <= len(payload) // RECORD_BYTES_MIN:
            raise InvalidRecordBatch(
                f"batch at offset {header.base_offset} claims {header.record_count} records in {len(payload)} bytes"
            )
        start = position + HEADER_BYTES
        self._lines.append(_line(header, start, start + len(payload)))
        self._pieces.append(payload)
        self.size_bytes += len(payload)

    def table(self) -> tuple[Bytes, Longs]:
        lines = np.array(self._lines, np.int64).reshape(-1, len(Payload))
        if not self._is_plain:
            lines[:, Payload.END] = np.cumsum([len(piece) for piece in self._pieces])
            lines[:, Payload.START] = np.concatenate(([0], lines[:-1, Payload.END]))
        data = np.frombuffer(self._buffer if self._is_plain else b"".join(self._pieces), np.uint8)
        data.setflags(write=False)
        return data, lines


def _line(header: BatchHeader, start: int, end: int) -> tuple[int, ...]:
    """In the order of `Payload`."""
    is_append_time = header.timestamp_type == TimestampType.LOG_APPEND_TIME
    return (
        start,
        end,
        header.record_count,
        header.base_offset,
        header.base_timestamp,
        header.max_timestamp,
        int(is_append_time),
    )


def _records(data: Bytes, payloads: Longs, offsets: OffsetRange, with_headers: bool) -> pa.RecordBatch:
    from fencepost.records.columnar import kernels

    fields = np.empty((len(Field), int(payloads[:, Payload.RECORD_COUNT].sum())), np.int64)
    scan = kernels.scan_records(data, payloads, offsets.start_offset, offsets.end_offset, fields)
    if scan.problem != Problem.NONE:
        base_offset = payloads[scan.payload, Payload.BASE_OFFSET]
        raise InvalidRecordBatch(
            f"record {scan.record} of the batch at offset {base_offset}: {_PROBLEMS[Problem(scan.problem)]}"
        )
    fields = fields[:, : scan.row_count]
    arrays = [
        binary_array(BytesColumn(data, fields[Field.KEY_START], fields[Field.KEY_LENGTH]), pa.binary()),
        binary_array(BytesColumn(data, fields[Field.VALUE_START], fields[Field.VALUE_LENGTH]), pa.binary()),
        _numbers(fields[Field.OFFSET], np.int64, pa.int64()),
        _numbers(fields[Field.TIMESTAMP], np.int64, TIMESTAMP_TYPE),
        _numbers(fields[Field.TIMESTAMP_TYPE], np.int32, pa.int32()),
    ]
    if with_headers:
        arrays.append(headers_array(data, fields, fields[Field.HEADER_COUNT]))
    schema = RECORD_SCHEMA_WITH_HEADERS if with_headers else RECORD_SCHEMA
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _numbers(values: Longs, kind: type[np.signedinteger[Any]], array_type: pa.DataType) -> pa.Array:
    """Copied, because a column that were a line of the table would keep the whole table alive."""
    return pa.Array.from_buffers(array_type, len(values), [None, pa.py_buffer(values.astype(kind))])
