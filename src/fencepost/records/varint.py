"""Zig-zag variable-length integers, as they stand inside records.

A varint holds 32 bits in at most 5 bytes, a varlong 64 bits in at most 10. Reading past the end of the data raises
IndexError, which readers of records turn into `InvalidRecordBatch` once, outside of its loop.
"""

from fencepost.records.record import InvalidRecordBatch
from fencepost.types import Buffer

VARINT_BYTES_MAX = 5
VARLONG_BYTES_MAX = 10


def _encode(value: int) -> bytes:
    remaining = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while remaining > 0x7F:
        encoded.append((remaining & 0x7F) | 0x80)
        remaining >>= 7
    encoded.append(remaining)
    return bytes(encoded)


_SMALL_MAX = 1023
_SMALL = tuple(_encode(value) for value in range(_SMALL_MAX + 1))


def to_int64(value: int) -> int:
    """`value` wrapped to 64 bits, as Java's long arithmetic does with timestamps further apart than a delta can say."""
    return (value + 2**63) % 2**64 - 2**63


def encode_varint(value: int) -> bytes:
    """The bytes of `value`, which fits in 64 bits; lengths and deltas are mostly small, so those come from a table."""
    return _SMALL[value] if 0 <= value <= _SMALL_MAX else _encode(value)


def read_varint(data: Buffer, position: int) -> tuple[int, int]:
    """The value at `position`, at most 32 bits wide, and the position behind it."""
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    second = data[position + 1]
    if second < 0x80:
        unsigned = (byte & 0x7F) | second << 7
        return (unsigned >> 1) ^ -(unsigned & 1), position + 2
    return _read_long(data, position, VARINT_BYTES_MAX, 0xFFFF_FFFF)


def read_varlong(data: Buffer, position: int) -> tuple[int, int]:
    """The value at `position`, at most 64 bits wide, and the position behind it."""
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return _read_long(data, position, VARLONG_BYTES_MAX, 0xFFFF_FFFF_FFFF_FFFF)


def _read_long(data: Buffer, position: int, bytes_max: int, unsigned_max: int) -> tuple[int, int]:
    unsigned = 0
    for index in range(bytes_max):
        byte = data[position + index]
        unsigned |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if unsigned > unsigned_max:
                break
            return (unsigned >> 1) ^ -(unsigned & 1), position + index + 1
    raise InvalidRecordBatch(f"the varint at {position} is longer than {unsigned_max.bit_length()} bits")
