"""A record batch to records, plainly. Bulk data goes through `columnar`.

Whatever the bytes are, the answer is records or `InvalidRecordBatch`, and memory follows what is really there: counts
and lengths that the batch claims are never trusted with an allocation, and a compressed payload is capped.
Which records a reader may see (aborted ones, markers) is not decided here.

Batches are read twice as fast where every record is of the common kind: no headers, and numbers of one or two bytes,
which are read in place, without a call for each. Where one is not, or something is wrong, all are read the plain way.
"""

import contextlib

from fencepost.records.compression import Compression, decompress
from fencepost.records.header import HEADER_BYTES, MAGIC, BatchHeader, TimestampType, read_header
from fencepost.records.record import HEADER_KEY_ERRORS, Headers, InvalidRecordBatch, Record
from fencepost.records.varint import read_varint, read_varlong, to_int64
from fencepost.types import Buffer

_new = tuple.__new__
_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1
_NULL = 1
"""The length -1."""


def read_records(batch: Buffer) -> list[Record]:
    header = read_header(batch)
    payload = read_payload(batch, header)
    if header.timestamp_type is TimestampType.CREATE_TIME:
        with contextlib.suppress(IndexError, InvalidRecordBatch):
            if (records := _read_common(payload, header)) is not None:
                return records
    return _read_any(payload, header)


def read_payload(batch: Buffer, header: BatchHeader) -> bytes:
    """The encoded records of a batch, decompressed."""
    payload = view_payload(batch, header)
    if header.compression == Compression.NONE or not payload:
        return bytes(payload)
    return decompress(payload, header.compression)


def view_payload(batch: Buffer, header: BatchHeader) -> memoryview:
    """The encoded records of a batch as they are."""
    if header.magic != MAGIC:
        raise InvalidRecordBatch(f"the batch has magic {header.magic}: only {MAGIC} is read")
    if header.size_bytes != len(batch):
        raise InvalidRecordBatch(f"the batch says it has {header.size_bytes} bytes and has {len(batch)}")
    if header.record_count < 0:
        raise InvalidRecordBatch(f"the batch says it has {header.record_count} records")
    return memoryview(batch)[HEADER_BYTES:]


def _read_common(payload: bytes, header: BatchHeader) -> list[Record] | None:
    """The records if all are of the common kind, else None. Zig-zag: an odd number is a negative one."""
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    records: list[Record] = []
    at = signs = 0
    for _ in range(header.record_count):
        raw = payload[at]
        if raw < 0x80:
            at += 1
        elif (second := payload[at + 1]) < 0x80:
            raw, at = raw & 0x7F | second << 7, at + 2
        else:
            raw, at = _wide(payload, at)
        end, at = at + (raw >> 1), at + 1
        signs |= raw
        raw = payload[at]
        if raw < 0x80:
            at += 1
        elif (second := payload[at + 1]) < 0x80:
            raw, at = raw & 0x7F | second << 7, at + 2
        else:
            raw, at = _wide_long(payload, at)
        timestamp_ms = base_timestamp + ((raw >> 1) ^ -(raw & 1))
        raw = payload[at]
        if raw < 0x80:
            at += 1
        elif (second := payload[at + 1]) < 0x80:
            raw, at = raw & 0x7F | second << 7, at + 2
        else:
            raw, at = _wide(payload, at)
        offset = base_offset + (raw >> 1)
        signs |= raw
        raw = payload[at]
        key = None
        if raw == _NULL:
            at += 1
        else:
            raw, at = (raw, at + 1) if raw < 0x80 else _wide(payload, at)
            signs |= raw
            start, at = at, at + (raw >> 1)
            key = payload[start:at]
        raw = payload[at]
        value = None
        if raw == _NULL:
            at += 1
        else:
            if raw < 0x80:
                at += 1
            elif (second := payload[at + 1]) < 0x80:
                raw, at = raw & 0x7F | second << 7, at + 2
            else:
                raw, at = _wide(payload, at)
            signs |= raw
            start, at = at, at + (raw >> 1)
            value = payload[start:at]
        if payload[at] or at + 1 != end or signs & 1 or not 0 <= timestamp_ms <= _INT64_MAX:
            return None
        at = end
        records.append(_new(Record, (offset, timestamp_ms, key, value, ())))
    return records if at == len(payload) else None


def _wide(payload: bytes, at: int) -> tuple[int, int]:
    """A number of up to 32 bits, still in zig-zag."""
    value, at = read_varint(payload, at)
    return (value << 1) ^ (value >> 63), at


def _wide_long(payload: bytes, at: int) -> tuple[int, int]:
    value, at = read_varlong(payload, at)
    return (value << 1) ^ (value >> 63), at


def _read_any(payload: bytes, header: BatchHeader) -> list[Record]:
    """The records, or what is wrong with them."""
    is_append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    records: list[Record] = []
    position = 0
    for index in range(header.record_count):
        try:
            record, position = _read_record(payload, position, header)
        except IndexError as error:
            raise InvalidRecordBatch(
                f"record {index} of {header.record_count} passes the end of the batch's {len(payload)} bytes"
            ) from error
        records.append(record._replace(timestamp_ms=header.max_timestamp) if is_append_time else record)
    if position != len(payload):
        raise InvalidRecordBatch(f"{len(payload) - position} bytes follow the last of {header.record_count} records")
    return records


def _read_record(payload: bytes, position: int, header: BatchHeader) -> tuple[Record, int]:
    length, position = read_varint(payload, position)
    end = position + length
    if length < 0 or end > len(payload):
        raise InvalidRecordBatch(f"a record of {length} bytes at {position} passes the end, {len(payload)}")
    timestamp_delta, position = read_varlong(payload, position + 1)
    offset_delta, position = read_varint(payload, position)
    key, position = _read_bytes(payload, position)
    value, position = _read_bytes(payload, position)
    headers: Headers = ()
    if payload[position]:
        headers, position = _read_headers(payload, position)
    else:
        position += 1
    if position != end:
        raise InvalidRecordBatch(f"a record that should end at {end} ends at {position}")
    timestamp_ms = header.base_timestamp + timestamp_delta
    if not _INT64_MIN <= timestamp_ms <= _INT64_MAX:
        timestamp_ms = to_int64(timestamp_ms)
    return Record(header.base_offset + offset_delta, timestamp_ms, key, value, headers), position


def _read_bytes(payload: bytes, position: int) -> tuple[bytes | None, int]:
    """Bytes behind their length; Kafka's readers take every negative length for null, so this one does."""
    length, position = read_varint(payload, position)
    if length < 0:
        return None, position
    end = position + length
    if end > len(payload):
        raise InvalidRecordBatch(f"{length} bytes at {position} pass the end, {len(payload)}")
    return payload[position:end], end


def _read_headers(payload: bytes, position: int) -> tuple[Headers, int]:
    count, position = read_varint(payload, position)
    if count < 0:
        raise InvalidRecordBatch(f"a record says it has {count} headers")
    headers = []
    for _ in range(count):
        key, position = _read_bytes(payload, position)
        if key is None:
            raise InvalidRecordBatch(f"a record header without a key before {position}")
        value, position = _read_bytes(payload, position)
        headers.append((key.decode("utf-8", HEADER_KEY_ERRORS), value))
    return tuple(headers), position
