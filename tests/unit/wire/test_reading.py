"""Primitive types at their edges: the longest varint, the shortest buffer, the count that just fits."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import WireError
from fencepost.wire import reading, writing
from fencepost.wire.message import Output
from fencepost.wire.reading import read_uvarint, skip_tags
from fencepost.wire.writing import write_uvarint


@given(value=st.integers(0, 2**32 - 1) | st.sampled_from([0x7F, 0x80, 0x3FFF, 0x4000, 2**28 - 1, 2**28, 2**32 - 1]))
def test_unsigned_varints_read_back(value: int) -> None:
    out = Output()
    write_uvarint(out, value)
    assert read_uvarint(bytes(out), 0) == (value, len(out))


@pytest.mark.parametrize("raw", [b"\xff\xff\xff\xff\x10", b"\xff\xff\xff\xff\xff\x01", b"\x80\x80\x80\x80\x80\x00"])
def test_an_unsigned_varint_of_more_than_32_bits_is_refused(raw: bytes) -> None:
    with pytest.raises(WireError, match="32 bits"):
        read_uvarint(raw, 0)


@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 16_382, 16_383, 16_384, 32_767])
@pytest.mark.parametrize("form", ["string", "nullable_string", "compact_string", "compact_nullable_string"])
def test_strings_of_every_length_class_read_back(form: str, size: int) -> None:
    out = Output()
    getattr(writing, f"write_{form}")(out, "x" * size)
    assert getattr(reading, f"read_{form}")(bytes(out), 0) == ("x" * size, len(out))
    with pytest.raises((WireError, IndexError)):
        getattr(reading, f"read_{form}")(bytes(out)[:-1], 0)


@pytest.mark.parametrize("count", [0, 1, 8, 9, 126, 127, 128, 20_000])
@pytest.mark.parametrize("code", ["b", "h", "i", "q"])
@pytest.mark.parametrize("form", ["integers", "compact_integers", "compact_nullable_integers"])
def test_arrays_of_integers_of_every_length_class_read_back(form: str, code: str, count: int) -> None:
    out, values, size = Output(), [index % 100 - 50 for index in range(count)], {"b": 1, "h": 2, "i": 4, "q": 8}[code]
    getattr(writing, f"write_{form}")(out, values, code)
    assert getattr(reading, f"read_{form}")(bytes(out), 0, code, size) == (values, len(out))


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (reading.read_string, b"\xff\xff"),
        (reading.read_string, b"\x80\x00"),
        (reading.read_nullable_string, b"\xff\xfe"),
        (reading.read_compact_string, b"\x00"),
        (reading.read_bytes, b"\xff\xff\xff\xff"),
        (reading.read_nullable_bytes, b"\xff\xff\xff\xfe"),
        (reading.read_compact_bytes, b"\x00"),
        (reading.read_strings, b"\xff\xff\xff\xff"),
        (reading.read_nullable_strings, b"\xff\xff\xff\xfe"),
        (reading.read_compact_strings, b"\x00"),
        (reading.read_uuid, bytes(15)),
    ],
)
def test_nulls_negative_lengths_and_short_buffers_are_refused(read: Callable[..., Any], raw: bytes) -> None:
    with pytest.raises(WireError):
        read(raw, 0)


def test_a_nullable_struct_is_there_or_not_and_nothing_else() -> None:
    def read_byte(data: reading.Data, at: int, _version: int) -> tuple[int, int]:
        return data[at], at + 1

    assert reading.read_nullable_struct(b"\x01\x2a", 0, 0, read_byte) == (42, 2)
    assert reading.read_nullable_struct(b"\xff", 0, 0, read_byte) == (None, 1)
    assert reading.read_nullable_struct(b"\x00", 0, 0, read_byte) == (None, 1)
    with pytest.raises(WireError, match="marker"):
        reading.read_nullable_struct(b"\x02\x2a", 0, 0, read_byte)


def test_a_tagged_field_may_not_reach_past_the_end() -> None:
    assert skip_tags(b"\x01\x00\x02ab", 0) == 5
    with pytest.raises(WireError, match="claims 3 bytes"):
        skip_tags(b"\x01\x00\x03ab", 0)


def test_a_string_that_ends_inside_a_character_is_not_accepted() -> None:
    with pytest.raises(UnicodeDecodeError):
        reading.read_compact_string(b"\x02\xc3", 0)
