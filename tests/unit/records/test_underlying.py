"""Views over bytes, and where they begin."""

import mmap

import pytest

from fencepost.records.inspection import underlying

DATA = bytes(range(100))


@pytest.mark.parametrize("made_of", [bytes, bytearray])
def test_a_view_is_found_in_what_is_below_it(made_of: type[bytes] | type[bytearray]) -> None:
    data = made_of(DATA)
    for view in (memoryview(data), memoryview(data)[7:50], memoryview(data)[7:50][3:].toreadonly()):
        below, start = underlying(view)
        assert below is data
        assert below[start : start + len(view)] == view


def test_bytes_are_what_they_are() -> None:
    assert underlying(DATA) == (DATA, 0)


def test_an_empty_view_is_found_too() -> None:
    for view in (memoryview(b""), memoryview(DATA)[50:50], memoryview(bytearray())):
        below, start = underlying(view)
        assert 0 <= start <= len(below)


def test_what_is_no_bytes_is_copied() -> None:
    with mmap.mmap(-1, 10) as mapped:
        mapped[:3] = b"abc"
        with memoryview(mapped) as view:
            assert underlying(view[1:3]) == (b"bc", 0)


def test_nothing_stays_locked() -> None:
    data = bytearray(DATA)
    with memoryview(data) as view, view[3:] as part:
        underlying(part)
    data.clear()
