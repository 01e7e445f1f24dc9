"""The picture of a log: a cell for each offset at its place, flags where they belong, dots for what was given."""

from xml.etree import ElementTree

import pytest

from fencepost.client.admin.inspecting import Outcome
from fencepost.client.values import ProducerIdentity
from fencepost.lab.partition_log import (
    CELL_WIDTH,
    FILLS,
    LEFT,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Cell,
    PartitionLog,
    draw_log,
)
from fencepost.types import TopicPartition

NAMESPACE = "{http://www.w3.org/2000/svg}"
WHERE = TopicPartition("a&b", 0)
CELLS = (
    Cell(10, Outcome.PLAIN, "plain"),
    Cell(11, Outcome.COMMITTED, "<kept>", ProducerIdentity(4001, 3)),
    Cell(12, Outcome.MARKER, "COMMIT", ProducerIdentity(4001, 4)),
    Cell(17, Outcome.ABORTED, "dropped", ProducerIdentity(4001, 4)),
    Cell(18, Outcome.MARKER, "ABORT", ProducerIdentity(4001, 5)),
    Cell(19, Outcome.OPEN, "a value that is long", ProducerIdentity(7, 0)),
)


def log_of(cells: tuple[Cell, ...], *, stable: int, high: int) -> PartitionLog:
    committed = frozenset({10, 11})
    return PartitionLog(WHERE, cells, stable, high, {READ_COMMITTED: committed, READ_UNCOMMITTED: committed | {17, 19}})


def parse(log: PartitionLog) -> ElementTree.Element:
    return ElementTree.fromstring(draw_log(log))


def texts(picture: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in picture.iter(f"{NAMESPACE}text")]


def flags(picture: ElementTree.Element) -> list[int]:
    """Where the upright lines stand, in cells from the left."""
    paths = [path.get("d", "") for path in picture.iter(f"{NAMESPACE}path")]
    return [(int(path[1:].split()[0]) - LEFT) // CELL_WIDTH for path in paths if "V" in path]


def test_each_offset_has_a_cell_in_the_colour_of_what_became_of_it() -> None:
    picture = parse(log_of(CELLS, stable=19, high=20))
    titled = [rect for rect in picture.iter(f"{NAMESPACE}rect") if rect.find(f"{NAMESPACE}title") is not None]
    assert [rect.get("fill") for rect in titled] == [FILLS[cell.outcome][0] for cell in CELLS]
    assert [float(rect.get("x", 0)) // CELL_WIDTH for rect in titled] == list(range(2, 8))
    assert [rect.get("stroke-dasharray") is not None for rect in titled] == [False] * 5 + [True]
    struck = [text.text for text in picture.iter(f"{NAMESPACE}text") if text.get("text-decoration")]
    assert struck == ["dropped"]
    assert {"10", "17", "19", "<kept>", "COMMIT", "4001 : 3", "a&b-0"} <= set(texts(picture))
    assert "a value …" in texts(picture), "what is long is shortened; the tooltip has all of it"


def test_the_last_stable_offset_stands_before_the_first_undecided_record_and_the_high_watermark_at_the_end() -> None:
    picture = parse(log_of(CELLS, stable=19, high=20))
    assert flags(picture) == [6, 5]
    assert {"last stable offset 19", "high watermark 20"} <= set(texts(picture))


def test_where_nothing_is_undecided_the_two_are_one() -> None:
    picture = parse(log_of(CELLS[:5], stable=19, high=19))
    assert flags(picture) == [5]
    assert "last stable offset = high watermark 19" in texts(picture)


def test_a_dot_stands_below_each_record_that_a_reader_was_given() -> None:
    picture = parse(log_of(CELLS, stable=19, high=20))
    dots: dict[str, list[float]] = {}
    for dot in picture.iter(f"{NAMESPACE}circle"):
        dots.setdefault(dot.get("cy", ""), []).append((float(dot.get("cx", 0)) - LEFT) // CELL_WIDTH)
    assert list(dots.values()) == [[0, 1], [0, 1, 3, 5]]


@pytest.mark.parametrize("count", range(len(CELLS) + 1))
@pytest.mark.parametrize(("stable", "high"), [(20, 20), (19, 20), (10, 20), (1_000_000_000, 1_000_000_000)])
def test_everything_lies_on_the_paper(count: int, stable: int, high: int) -> None:
    picture = parse(log_of(CELLS[:count], stable=stable, high=high))
    width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
    for text in picture.iter(f"{NAMESPACE}text"):
        x, y = float(text.get("x", 0)), float(text.get("y", 0))
        length = len(text.text or "") * 0.62 * int(text.get("font-size", 0))
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "")] * length
        assert left >= 0, text.text
        assert left + length <= width, text.text
        assert 0 < y < height
