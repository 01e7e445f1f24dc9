"""Writers of Kafka's primitive types: `write_x(out, value)` appends to an `Output`.

A null that the version does not allow is a `WireError`, and so is a string that is too long. A number that its field
cannot hold shows as `struct.error`, which `Message.encode` turns into one.
"""

from collections.abc import Sequence
from struct import Struct, pack
from typing import Protocol

from fencepost.errors import WireError
from fencepost.types import Buffer
from fencepost.wire.message import Output
from fencepost.wire.reading import STRING_BYTES_MAX

_INT16 = Struct(">h").pack
_INT32 = Struct(">i").pack


class Writable(Protocol):
    def write(self, out: Output, version: int) -> None: ...


def write_uvarint(out: Output, value: int) -> None:
    if 0x80 <= value < 0x4000:
        out += bytes((value & 0x7F | 0x80, value >> 7))
        return
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def null_refused(what: str) -> WireError:
    return WireError(f"{what} is null, which this version of the message does not allow")


def write_string(out: Output, value: str | None) -> None:
    if value is None:
        raise null_refused("string")
    raw = value.encode()
    if len(raw) > STRING_BYTES_MAX:
        raise WireError(f"string of {len(raw)} bytes, at most {STRING_BYTES_MAX} fit")
    out += _INT16(len(raw))
    out += raw


def write_nullable_string(out: Output, value: str | None) -> None:
    if value is None:
        out += b"\xff\xff"
        return
    write_string(out, value)


def write_compact_string(out: Output, value: str | None) -> None:
    if value is None:
        raise null_refused("string")
    raw = value.encode()
    size = len(raw) + 1
    if size < 0x80:
        out.append(size)
    else:
        write_uvarint(out, size)
    out += raw


def write_compact_nullable_string(out: Output, value: str | None) -> None:
    if value is None:
        out.append(0)
    else:
        write_compact_string(out, value)


def write_bytes(out: Output, value: bytes | None) -> None:
    if value is None:
        raise null_refused("bytes")
    out += _INT32(len(value))
    out += value


def write_nullable_bytes(out: Output, value: bytes | None) -> None:
    if value is None:
        out += b"\xff\xff\xff\xff"
    else:
        write_bytes(out, value)


def write_compact_bytes(out: Output, value: bytes | None) -> None:
    if value is None:
        raise null_refused("bytes")
    write_uvarint(out, len(value) + 1)
    out += value


def write_nullable_records(out: Output, records: Buffer | None) -> None:
    if records is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _INT32(len(records))
        out.splice(records)


def write_compact_nullable_records(out: Output, records: Buffer | None) -> None:
    if records is None:
        out.append(0)
    else:
        write_uvarint(out, len(records) + 1)
        out.splice(records)


def write_nullable_record_pieces(out: Output, pieces: Sequence[Buffer] | None) -> None:
    if pieces is None:
        out += b"\xff\xff\xff\xff"
    else:
        out += _INT32(sum(map(len, pieces)))
        for piece in pieces:
            out.splice(piece)


def write_compact_nullable_record_pieces(out: Output, pieces: Sequence[Buffer] | None) -> None:
    if pieces is None:
        out.append(0)
    else:
        write_uvarint(out, sum(map(len, pieces)) + 1)
        for piece in pieces:
            out.splice(piece)


def write_nullable_struct(out: Output, value: Writable | None, version: int) -> None:
    """KIP-893: a byte says whether the struct is there."""
    if value is None:
        out.append(0xFF)
    else:
        out.append(1)
        value.write(out, version)


def write_tags(out: Output, tags: Sequence[tuple[int, Buffer]]) -> None:
    """Tagged fields in ascending order of their tags, each as tag, size, value."""
    write_uvarint(out, len(tags))
    for tag, value in tags:
        write_uvarint(out, tag)
        write_uvarint(out, len(value))
        out += value


# Writers of arrays: of structs, of integers, of strings, of uuids.


FEW = 9
_FEW_INTEGERS = {code: [Struct(f">{count}{code}").pack for count in range(FEW)] for code in "bhiq"}


def write_compact_count(out: Output, count: int) -> None:
    if count < 0x7F:
        out.append(count + 1)
    else:
        write_uvarint(out, count + 1)


def write_array(out: Output, items: Sequence[Writable] | None, version: int) -> None:
    if items is None:
        raise null_refused("array")
    out += _INT32(len(items))
    for item in items:
        item.write(out, version)


def write_nullable_array(out: Output, items: Sequence[Writable] | None, version: int) -> None:
    if items is None:
        out += b"\xff\xff\xff\xff"
    else:
        write_array(out, items, version)


def write_compact_array(out: Output, items: Sequence[Writable] | None, version: int) -> None:
    if items is None:
        raise null_refused("array")
    write_compact_count(out, len(items))
    for item in items:
        item.write(out, version)


def write_compact_nullable_array(out: Output, items: Sequence[Writable] | None, version: int) -> None:
    if items is None:
        out.append(0)
    else:
        write_compact_array(out, items, version)


def write_integers(out: Output, values: Sequence[int] | None, code: str) -> None:
    if values is None:
        raise null_refused("array")
    out += _INT32(len(values))
    out += pack(f">{len(values)}{code}", *values)


def write_compact_integers(out: Output, values: Sequence[int] | None, code: str) -> None:
    if values is None:
        raise null_refused("array")
    count = len(values)
    if count < FEW:
        out.append(count + 1)
        out += _FEW_INTEGERS[code][count](*values)
    else:
        write_uvarint(out, count + 1)
        out += pack(f">{count}{code}", *values)


def write_compact_nullable_integers(out: Output, values: Sequence[int] | None, code: str) -> None:
    if values is None:
        out.append(0)
    else:
        write_compact_integers(out, values, code)


def write_strings(out: Output, values: Sequence[str] | None) -> None:
    if values is None:
        raise null_refused("array")
    out += _INT32(len(values))
    for value in values:
        write_string(out, value)


def write_nullable_strings(out: Output, values: Sequence[str] | None) -> None:
    if values is None:
        out += b"\xff\xff\xff\xff"
    else:
        write_strings(out, values)


def write_compact_strings(out: Output, values: Sequence[str] | None) -> None:
    if values is None:
        raise null_refused("array")
    write_compact_count(out, len(values))
    for value in values:
        write_compact_string(out, value)


def write_compact_nullable_strings(out: Output, values: Sequence[str] | None) -> None:
    if values is None:
        out.append(0)
    else:
        write_compact_strings(out, values)
