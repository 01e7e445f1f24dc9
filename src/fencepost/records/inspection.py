"""What lies inside a client's batch, checked without making records of it.

Kafka walks through every batch that it takes. In Python the whole walk costs far more than the rest of an append, so
the caller chooses between two depths. `validate_record_lengths` hops from length to length: count and extent of an
uncompressed batch are what its header says. `validate_keyed_records` looks at every field, decompressing if it must; a
compacted topic needs it, because a record without a key can never be cleaned. What a shallow check lets pass was built
that way by its client (the checksum holds), and readers refuse it. Where Kafka repairs (offset deltas of a compressed
batch out of sequence, a wrong maximum timestamp), this refuses or leaves the bytes alone.
"""

import contextlib

from fencepost.errors import Refusal
from fencepost.records.compression import Compression
from fencepost.records.header import BatchHeader
from fencepost.records.reader import read_payload, view_payload
from fencepost.records.record import InvalidRecordBatch
from fencepost.records.validation import invalid
from fencepost.records.varint import read_varint, read_varlong
from fencepost.types import Buffer

ALIKE_RECORDS_MIN = 32
"""Looking for neighbours of one size takes as long as walking over a few records."""


def validate_record_lengths(batch: Buffer, header: BatchHeader) -> Refusal | None:
    """Refuses an uncompressed batch whose bytes are not exactly as many records as its header says."""
    if header.compression != Compression.NONE:
        return None
    try:
        payload = view_payload(batch, header)
        position = _end_of_records(payload, header.record_count)
    except IndexError:
        return invalid(f"{header.record_count} records do not fit in the batch's {len(payload)} bytes")
    except InvalidRecordBatch as error:
        return invalid(str(error))
    return _refuse_extent(payload, position, header)


def _end_of_records(payload: Buffer, record_count: int) -> int:
    """Where the last record ends. This runs for every record that is produced."""
    if record_count > ALIKE_RECORDS_MIN:
        with contextlib.suppress(IndexError, InvalidRecordBatch):
            return _end_of_many(payload, record_count)
    # Also to tell what is wrong, with its place in the payload.
    return _walk(payload, 0, record_count)


def _end_of_many(payload: Buffer, record_count: int) -> int:
    """Neighbours of one size are passed over together; where there are none, records are walked, more of them after
    each attempt that failed."""
    data = bytes(payload)  # every n-th byte of a view is copied ten times as slowly
    position = 0
    window = walked = ALIKE_RECORDS_MIN
    while record_count > ALIKE_RECORDS_MIN:
        wanted = min(window, record_count)
        passed, after = _pass_alike(data, position, wanted)
        window = 8 * window if passed == wanted else ALIKE_RECORDS_MIN
        if passed >= ALIKE_RECORDS_MIN:
            walked = ALIKE_RECORDS_MIN
        else:
            passed = min(walked, record_count)
            after = _walk(data, position, passed)
            walked *= 2
        position = after
        record_count -= passed
    return _walk(data, position, record_count)


def _pass_alike(data: bytes, position: int, record_count: int) -> tuple[int, int]:
    """How many records from here on, up to so many, have the size of the first, and where the last of them ends. They
    do if the bytes of its length stand again wherever a record of that size would begin."""
    length, start = read_varint(data, position)
    if length < 0:
        return 0, position
    size_bytes = start - position + length
    for at in range(position, start):
        column = data[at : at + (record_count - 1) * size_bytes + 1 : size_bytes]
        record_count = len(column)
        if column != column[:1] * record_count:  # compared at once; stripping looks at one after the other
            record_count -= len(column.lstrip(column[:1]))
    return record_count, position + record_count * size_bytes


def _walk(payload: Buffer, position: int, record_count: int) -> int:
    """From length to length; the common ones, of one and two bytes, are read in place."""
    for _ in range(record_count):
        byte = payload[position]
        if byte & 1 == 0:
            if byte < 0x80:
                position += 1 + (byte >> 1)
                continue
            second = payload[position + 1]
            if second < 0x80:
                position += 2 + ((byte & 0x7F | second << 7) >> 1)
                continue
        length, position = read_varint(payload, position)
        if length < 0:
            raise InvalidRecordBatch(f"a record at {position} says that it has {length} bytes")
        position += length
    return position


def validate_keyed_records(batch: Buffer, header: BatchHeader) -> Refusal | None:
    """Refuses a batch whose records are not what its header promises, in format, count or offset deltas, or have no
    key."""
    try:
        return _refuse_records(read_payload(batch, header), header)
    except InvalidRecordBatch as error:
        return invalid(str(error))


def _refuse_records(payload: bytes, header: BatchHeader) -> Refusal | None:
    position = 0
    index = 0
    try:
        for index in range(header.record_count):
            length, position = read_varint(payload, position)
            end = position + length
            _, position = read_varlong(payload, position + 1)
            offset_delta, position = read_varint(payload, position)
            key_length, position = read_varint(payload, position)
            value_length, position = read_varint(payload, position if key_length < 0 else position + key_length)
            if value_length > 0:
                position += value_length
            position = _skip_headers(payload, position) if payload[position] else position + 1
            if position != end:
                return invalid(f"record {index} says that it ends at {end} and ends at {position}")
            if offset_delta != index:
                return invalid(f"record {index} has offset delta {offset_delta}: deltas count from 0 without gaps")
            if key_length < 0:
                return invalid(f"record {index} has no key: a compacted topic needs one")
    except IndexError:
        return invalid(f"record {index} of {header.record_count} passes the end of the batch's {len(payload)} bytes")
    return _refuse_extent(payload, position, header)


def _refuse_extent(payload: Buffer, position: int, header: BatchHeader) -> Refusal | None:
    if position == len(payload):
        return None
    return invalid(f"{header.record_count} records end at {position} of the batch's {len(payload)} bytes")


def _skip_headers(payload: bytes, position: int) -> int:
    count, position = read_varint(payload, position)
    if count < 0:
        raise InvalidRecordBatch(f"a record says that it has {count} headers")
    for _ in range(count):
        key_length, position = read_varint(payload, position)
        if key_length < 0:
            raise InvalidRecordBatch(f"a record header without a key before {position}")
        value_length, position = read_varint(payload, position + key_length)
        if value_length > 0:
            position += value_length
    return position
