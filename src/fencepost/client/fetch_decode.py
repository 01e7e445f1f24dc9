"""Records out of a batch, twice as fast as `records.reader` reads them and with the same result.

Pure. Numbers of one or two bytes, nearly all that there are, are read in place, without a call for each. Wider ones,
headers, and whatever looks odd are left to the reader, which also has the words for what is wrong.
"""

from fencepost.records.errors import InvalidRecordBatch
from fencepost.records.header import BatchHeader, TimestampType
from fencepost.records.reader import read_payload, read_records
from fencepost.records.record import Record
from fencepost.records.varint import read_varint, read_varlong

_new = tuple.__new__
INT64_MAX = 2**63 - 1
NULL = 1
"""The length -1."""


def decode_records(batch: memoryview, header: BatchHeader) -> list[Record]:
    """All records of the batch, or `InvalidRecordBatch`."""
    records = None
    if header.timestamp_type is TimestampType.CREATE_TIME and header.record_count > 0:
        try:
            records = _decode(read_payload(batch, header), header)
        except (IndexError, InvalidRecordBatch):
            records = None
    return read_records(batch) if records is None else records


def _decode(payload: bytes, header: BatchHeader) -> list[Record] | None:
    """The records, or None where the plain reader has to look. Zig-zag: an odd number is a negative one."""
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
        if raw == NULL:
            at += 1
        else:
            raw, at = (raw, at + 1) if raw < 0x80 else _wide(payload, at)
            signs |= raw
            start, at = at, at + (raw >> 1)
            key = payload[start:at]
        raw = payload[at]
        value = None
        if raw == NULL:
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
        if payload[at] or at + 1 != end or signs & 1 or not 0 <= timestamp_ms <= INT64_MAX:
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
