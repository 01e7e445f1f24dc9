import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records.record import InvalidRecordBatch
from fencepost.records.varint import encode_varint, read_varint, read_varlong


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (-65, "8101"),
        (8191, "fe7f"),
        (8192, "808001"),
        (2**31 - 1, "feffffff0f"),
        (-(2**31), "ffffffff0f"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_varints_are_zig_zag_with_the_low_bits_first(value: int, encoded: str) -> None:
    assert encode_varint(value).hex() == encoded


@settings(deadline=None)
@given(st.integers(-(2**31), 2**31 - 1), st.binary(max_size=3))
def test_every_32_bit_number_is_read_back_with_its_end(value: int, tail: bytes) -> None:
    encoded = encode_varint(value)
    assert read_varint(b"\xff" + encoded + tail, 1) == (value, 1 + len(encoded))


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3))
def test_every_64_bit_number_is_read_back_with_its_end(value: int, tail: bytes) -> None:
    encoded = encode_varint(value)
    assert read_varlong(b"\xff" + encoded + tail, 1) == (value, 1 + len(encoded))


def test_a_varint_wider_than_its_type_is_refused() -> None:
    for encoded in (encode_varint(2**31), encode_varint(-(2**31) - 1), b"\x80\x80\x80\x80\x80\x00"):
        with pytest.raises(InvalidRecordBatch, match="32 bits"):
            read_varint(encoded, 0)
    for encoded in (b"\xff" * 9 + b"\x02", b"\x80" * 10 + b"\x00"):
        with pytest.raises(InvalidRecordBatch, match="64 bits"):
            read_varlong(encoded, 0)


def test_a_varint_cut_short_passes_the_end() -> None:
    for encoded in (b"", b"\x80", b"\x80\x80"):
        with pytest.raises(IndexError):
            read_varint(encoded, 0)
        with pytest.raises(IndexError):
            read_varlong(encoded, 0)
