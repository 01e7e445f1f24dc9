"""Readers of Kafka's primitive types: `read_x(data, at)` returns the value and the position after it.

Every length and count is compared with the bytes that remain before anything is allocated, so a message takes memory in
proportion to its frame whatever it claims. What these functions find wrong is a `WireError`. Running off the end while
reading a fixed-size number shows as `struct.error` or `IndexError`: `codec` and `message` turn
those into `WireError` once per message, which keeps the check out of every field.
"""

from codecs import utf_8_decode
from collections.abc import Callable
from functools import lru_cache
from struct import Struct, unpack_from
from typing import TypeVar
from uuid import UUID

from fencepost.errors import WireError
from fencepost.types import Buffer

Data = bytes | memoryview
Item = TypeVar("Item")
ReadItem = Callable[[Data, int, int], tuple[Item, int]]

_INT32 = Struct(">i").unpack_from
ZERO_UUID = UUID(int=0)
STRING_BYTES_MAX = 2**15 - 1
UVARINT_BYTES_MAX = 5
UVARINT_MAX = 2**32 - 1


def read_uvarint(data: Data, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value, shift = byte & 0x7F, 7
    for position in range(at + 1, at + UVARINT_BYTES_MAX):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > UVARINT_MAX:
                break
            return value, position + 1
        shift += 7
    raise WireError(f"unsigned varint at byte {at} does not fit 32 bits")


def _end_of(what: str, data: Data, at: int, size: int) -> int:
    """Where `size` bytes that start at `at` end, checked against what is there."""
    end = at + size
    if size < 0:
        raise WireError(f"null or negative length for {what} at byte {at}, which may not be null")
    if end > len(data):
        raise WireError(f"{what} at byte {at} claims {size} bytes, {len(data) - at} remain")
    return end


def read_string(data: Data, at: int) -> tuple[str, int]:
    size = data[at] << 8 | data[at + 1]
    at += 2
    end = at + size
    if size > STRING_BYTES_MAX or end > len(data):
        _end_of("string", data, at, size if size <= STRING_BYTES_MAX else size - 2**16)
    return utf_8_decode(data[at:end], "strict", True)[0], end


def read_nullable_string(data: Data, at: int) -> tuple[str | None, int]:
    size = data[at] << 8 | data[at + 1]
    at += 2
    if size == 0xFFFF:
        return None, at
    end = at + size
    if size > STRING_BYTES_MAX or end > len(data):
        _end_of("string", data, at, size if size <= STRING_BYTES_MAX else size - 2**16)
    return utf_8_decode(data[at:end], "strict", True)[0], end


def read_compact_string(data: Data, at: int) -> tuple[str, int]:
    size = data[at]
    if size < 0x80:
        at += 1
    else:
        size, at = read_uvarint(data, at)
    end = at + size - 1
    if not size or end > len(data):
        _end_of("string", data, at, size - 1)
    return utf_8_decode(data[at:end], "strict", True)[0], end


def read_compact_nullable_string(data: Data, at: int) -> tuple[str | None, int]:
    if data[at] == 0:
        return None, at + 1
    return read_compact_string(data, at)


def _bytes_bounds(data: Data, at: int) -> tuple[int, int]:
    size = _INT32(data, at)[0]
    return at + 4, _end_of("bytes", data, at + 4, size)


def _compact_bytes_bounds(data: Data, at: int) -> tuple[int, int]:
    size, at = read_uvarint(data, at)
    return at, _end_of("bytes", data, at, size - 1)


def read_bytes(data: Data, at: int) -> tuple[bytes, int]:
    start, end = _bytes_bounds(data, at)
    return bytes(data[start:end]), end


def read_nullable_bytes(data: Data, at: int) -> tuple[bytes | None, int]:
    if _INT32(data, at)[0] == -1:
        return None, at + 4
    return read_bytes(data, at)


def read_compact_bytes(data: Data, at: int) -> tuple[bytes, int]:
    start, end = _compact_bytes_bounds(data, at)
    return bytes(data[start:end]), end


def read_nullable_records(data: Data, at: int) -> tuple[memoryview | None, int]:
    """Record batches, not copied: a view over the frame."""
    if _INT32(data, at)[0] == -1:
        return None, at + 4
    start, end = _bytes_bounds(data, at)
    return memoryview(data)[start:end], end


def read_compact_nullable_records(data: Data, at: int) -> tuple[memoryview | None, int]:
    if data[at] == 0:
        return None, at + 1
    start, end = _compact_bytes_bounds(data, at)
    return memoryview(data)[start:end], end


def read_nullable_record_pieces(data: Data, at: int) -> tuple[list[Buffer] | None, int]:
    """The same as a list, for a field that is written from several buffers."""
    records, at = read_nullable_records(data, at)
    return None if records is None else [records], at


def read_compact_nullable_record_pieces(data: Data, at: int) -> tuple[list[Buffer] | None, int]:
    records, at = read_compact_nullable_records(data, at)
    return None if records is None else [records], at


@lru_cache(maxsize=4096)
def _uuid(raw: bytes) -> UUID:
    return UUID(bytes=raw)


def read_uuid(data: Data, at: int) -> tuple[UUID, int]:
    end = at + 16
    if end > len(data):
        _end_of("uuid", data, at, 16)
    return _uuid(bytes(data[at:end])), end


def read_nullable_struct(data: Data, at: int, version: int, read: ReadItem[Item]) -> tuple[Item | None, int]:
    """KIP-893: a byte says whether the struct is there. Java takes any negative byte for null."""
    marker = data[at]
    if marker == 1:
        return read(data, at + 1, version)
    if marker >= 0x80 or marker == 0:
        return None, at + 1
    raise WireError(f"marker of the nullable struct at byte {at} is {marker}, expected 1 or -1")


def read_tag(data: Data, at: int) -> tuple[int, int, int]:
    """Tag, where its value starts, where it ends."""
    tag, at = read_uvarint(data, at)
    size, at = read_uvarint(data, at)
    return tag, at, _end_of("tagged field", data, at, size)


def read_tag_count(data: Data, at: int) -> tuple[int, int]:
    """A tagged field takes at least two bytes: tag and size."""
    count, at = read_uvarint(data, at)
    if count * 2 > len(data) - at:
        raise WireError(f"{count} tagged fields claimed at byte {at}, {len(data) - at} bytes remain")
    return count, at


def skip_tags(data: Data, at: int) -> int:
    """Past the tagged fields of a struct that knows none: the protocol says to ignore unknown ones."""
    if data[at] == 0:
        return at + 1
    count, at = read_tag_count(data, at)
    for _ in range(count):
        _, _, at = read_tag(data, at)
    return at


def check_tag_end(tag: int, at: int, end: int) -> int:
    if at != end:
        raise WireError(f"tagged field {tag} ends at byte {at}, its size says {end}")
    return end


# Readers of arrays: of structs, of integers, of strings, of uuids.
#
# A count is compared with the bytes that remain, given the fewest that an element takes, before the first one is read.


FEW = 9
_FEW_INTEGERS = {code: [Struct(f">{count}{code}").unpack_from for count in range(FEW)] for code in "bhiq"}


def _refuse_count(data: Data, at: int, count: int) -> None:
    if count < 0:
        raise WireError(f"null or negative count for the array at byte {at}, which may not be null")
    raise WireError(f"array at byte {at} claims {count} elements, {len(data) - at} bytes remain")


def read_count(data: Data, at: int, element_bytes: int) -> tuple[int, int]:
    """How many elements an array has; each takes at least `element_bytes`."""
    count = _INT32(data, at)[0]
    at += 4
    if not 0 <= count * element_bytes <= len(data) - at:
        _refuse_count(data, at, count)
    return count, at


def read_compact_count(data: Data, at: int, element_bytes: int) -> tuple[int, int]:
    count = data[at] - 1
    if count < 0x7F:
        at += 1
    else:
        count, at = read_uvarint(data, at)
        count -= 1
    if not 0 <= count * element_bytes <= len(data) - at:
        _refuse_count(data, at, count)
    return count, at


def read_array(data: Data, at: int, version: int, read: ReadItem[Item], element_bytes: int) -> tuple[list[Item], int]:
    count, at = read_count(data, at, element_bytes)
    items = []
    for _ in range(count):
        item, at = read(data, at, version)
        items.append(item)
    return items, at


def read_nullable_array(
    data: Data, at: int, version: int, read: ReadItem[Item], element_bytes: int
) -> tuple[list[Item] | None, int]:
    if _INT32(data, at)[0] == -1:
        return None, at + 4
    return read_array(data, at, version, read, element_bytes)


def read_compact_array(
    data: Data, at: int, version: int, read: ReadItem[Item], element_bytes: int
) -> tuple[list[Item], int]:
    count, at = read_compact_count(data, at, element_bytes)
    items = []
    for _ in range(count):
        item, at = read(data, at, version)
        items.append(item)
    return items, at


def read_compact_nullable_array(
    data: Data, at: int, version: int, read: ReadItem[Item], element_bytes: int
) -> tuple[list[Item] | None, int]:
    if data[at] == 0:
        return None, at + 1
    return read_compact_array(data, at, version, read, element_bytes)


def _integers(data: Data, at: int, count: int, code: str, size: int) -> tuple[list[int], int]:
    if count < FEW:
        return list(_FEW_INTEGERS[code][count](data, at)), at + count * size
    return list(unpack_from(f">{count}{code}", data, at)), at + count * size


def read_integers(data: Data, at: int, code: str, size: int) -> tuple[list[int], int]:
    """An array of integers of `size` bytes; `code` is their letter in `struct`."""
    count, at = read_count(data, at, size)
    return _integers(data, at, count, code, size)


def read_compact_integers(data: Data, at: int, code: str, size: int) -> tuple[list[int], int]:
    count = data[at] - 1
    if 0 <= count < FEW:
        at += 1
        return list(_FEW_INTEGERS[code][count](data, at)), at + count * size
    count, at = read_compact_count(data, at, size)
    return _integers(data, at, count, code, size)


def read_compact_nullable_integers(data: Data, at: int, code: str, size: int) -> tuple[list[int] | None, int]:
    if data[at] == 0:
        return None, at + 1
    return read_compact_integers(data, at, code, size)


def _string_item(data: Data, at: int, _version: int) -> tuple[str, int]:
    return read_string(data, at)


def _compact_string_item(data: Data, at: int, _version: int) -> tuple[str, int]:
    return read_compact_string(data, at)


def read_strings(data: Data, at: int) -> tuple[list[str], int]:
    return read_array(data, at, 0, _string_item, 2)


def read_nullable_strings(data: Data, at: int) -> tuple[list[str] | None, int]:
    return read_nullable_array(data, at, 0, _string_item, 2)


def read_compact_strings(data: Data, at: int) -> tuple[list[str], int]:
    return read_compact_array(data, at, 0, _compact_string_item, 1)


def read_compact_nullable_strings(data: Data, at: int) -> tuple[list[str] | None, int]:
    return read_compact_nullable_array(data, at, 0, _compact_string_item, 1)
