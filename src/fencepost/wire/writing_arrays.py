"""Writers of arrays: of structs, of integers, of strings, of uuids."""

from collections.abc import Sequence
from struct import Struct, pack
from uuid import UUID

from fencepost.wire.output import Output
from fencepost.wire.writing import Writable, null_refused, write_compact_string, write_string, write_uvarint

_INT32 = Struct(">i").pack
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


def write_nullable_integers(out: Output, values: Sequence[int] | None, code: str) -> None:
    if values is None:
        out += b"\xff\xff\xff\xff"
    else:
        write_integers(out, values, code)


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


def write_compact_uuids(out: Output, values: Sequence[UUID] | None) -> None:
    if values is None:
        raise null_refused("array")
    write_compact_count(out, len(values))
    for value in values:
        out += value.bytes
