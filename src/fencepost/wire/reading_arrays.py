"""Readers of arrays: of structs, of integers, of strings, of uuids.

A count is compared with the bytes that remain, given the fewest that an element takes, before the first one is read.
"""

from struct import Struct, unpack_from
from uuid import UUID

from fencepost.errors import WireError
from fencepost.wire.reading import Data, Item, ReadItem, read_compact_string, read_string, read_uuid, read_uvarint

_INT32 = Struct(">i").unpack_from
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


def read_nullable_integers(data: Data, at: int, code: str, size: int) -> tuple[list[int] | None, int]:
    if _INT32(data, at)[0] == -1:
        return None, at + 4
    return read_integers(data, at, code, size)


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


def _uuid_item(data: Data, at: int, _version: int) -> tuple[UUID, int]:
    return read_uuid(data, at)


def read_strings(data: Data, at: int) -> tuple[list[str], int]:
    return read_array(data, at, 0, _string_item, 2)


def read_nullable_strings(data: Data, at: int) -> tuple[list[str] | None, int]:
    return read_nullable_array(data, at, 0, _string_item, 2)


def read_compact_strings(data: Data, at: int) -> tuple[list[str], int]:
    return read_compact_array(data, at, 0, _compact_string_item, 1)


def read_compact_nullable_strings(data: Data, at: int) -> tuple[list[str] | None, int]:
    return read_compact_nullable_array(data, at, 0, _compact_string_item, 1)


def read_compact_uuids(data: Data, at: int) -> tuple[list[UUID], int]:
    return read_compact_array(data, at, 0, _uuid_item, 16)
