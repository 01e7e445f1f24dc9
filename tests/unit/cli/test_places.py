"""Words for places and times, and what they mean."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.cli.arguments import (
    Place,
    PlaceKind,
    format_duration,
    format_moment,
    now_ms,
    parse_duration_ms,
    parse_moment_ms,
    parse_place,
    parse_topic_partition,
)
from fencepost.types import TopicPartition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("earliest", Place(PlaceKind.EARLIEST)),
        ("latest", Place(PlaceKind.LATEST)),
        ("42", Place(PlaceKind.OFFSET, 42)),
        ("20261115", Place(PlaceKind.OFFSET, 20261115)),
        ("-3", Place(PlaceKind.BEFORE_END, 3)),
        ("@1731663833000", Place(PlaceKind.TIME, 1731663833000)),
        ("2026-11-15T09:00:00+00:00", Place(PlaceKind.TIME, 1794733200000)),
    ],
)
def test_places_are_read(text: str, expected: Place) -> None:
    assert parse_place(text) == expected


def test_a_duration_is_so_long_ago() -> None:
    before = now_ms()
    place = parse_place("10m")
    assert place.kind is PlaceKind.TIME
    assert before - 600_000 <= place.number <= now_ms() - 600_000


@pytest.mark.parametrize("text", ["", "soon", "1.5", "10 m", "--3", "@", "earliest "])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        parse_place(text)


@given(st.integers(min_value=0, max_value=4_102_444_800_000))
def test_a_moment_that_is_printed_is_read_as_the_same_moment(at_ms: int) -> None:
    assert parse_moment_ms(f"@{at_ms}") == at_ms
    printed = parse_moment_ms(format_moment(at_ms))
    assert printed is not None
    # An hour that daylight saving repeats is printed the same twice.
    assert printed == at_ms or abs(printed - at_ms) == 3_600_000


@pytest.mark.parametrize(
    ("duration_ms", "expected"),
    [(0, "0 ms"), (999, "999 ms"), (61_500, "1 min 1 s"), (7_500_000, "2 h 5 min"), (90_000_000, "1 d 1 h")],
)
def test_durations_are_told_in_their_two_largest_units(duration_ms: int, expected: str) -> None:
    assert format_duration(duration_ms) == expected


@pytest.mark.parametrize(("text", "expected"), [("5ms", 5), ("2s", 2000), ("3h", 10_800_000), ("1d", 86_400_000)])
def test_durations_are_read(text: str, expected: int) -> None:
    assert parse_duration_ms(text) == expected


def test_a_partition_is_what_follows_the_last_dash() -> None:
    assert parse_topic_partition("tx-input-2") == TopicPartition("tx-input", 2)
    for text in ("orders", "-1", "orders-", "orders-x"):
        with pytest.raises(click.BadParameter):
            parse_topic_partition(text)
