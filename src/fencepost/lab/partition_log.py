"""The end of a partition's log as a value, for notebooks: every record and marker, what became of it, and who gets it.

`read_log(bootstrap_servers, "invoices")` asks any Kafka cluster: the batches are fetched as they lie there, and two
consumers, one of each isolation level, read the same offsets, so that what a reader gets is seen and not worked out.
In a notebook the value shows itself as a picture (`draw_log`), elsewhere as a table. The calls follow each
other: it is a picture of one moment only if nothing is written meanwhile.
"""

from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from fencepost.client.admin.admin import Admin
from fencepost.client.admin.inspecting import InspectedBatch, Outcome, inspect_batches
from fencepost.client.consumer.consumer import Consumer
from fencepost.client.exceptions import Timeout, UnknownTopicOrPartition
from fencepost.client.time_limits import Deadline
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.records.reader import read_records
from fencepost.types import OffsetRange, TopicPartition

OFFSETS_SHOWN_MAX = 24
TIMEOUT_S = 60.0
POLL_S = 0.5
READ_COMMITTED = "read_committed"
READ_UNCOMMITTED = "read_uncommitted"


class Cell(NamedTuple):
    """One offset of a log."""

    offset: int
    outcome: Outcome
    text: str
    """The record's value, or COMMIT or ABORT."""
    identity: ProducerIdentity = NO_IDENTITY


@dataclass(frozen=True)
class PartitionLog:
    topic_partition: TopicPartition
    cells: tuple[Cell, ...]
    last_stable_offset: int
    high_watermark: int
    handed_out: dict[str, frozenset[int]]
    """Isolation level -> the offsets that a consumer with it was given."""

    @property
    def positions_text(self) -> str:
        return f"last stable offset {self.last_stable_offset}, high watermark {self.high_watermark}"

    def __repr__(self) -> str:
        headings = ["offset", "what", "value", "producer", *self.handed_out]
        rows = [[str(cell.offset), cell.outcome.value, *_words(cell), *self._marks(cell)] for cell in self.cells]
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in [headings, *rows]
        ]
        return "\n".join([f"{self.topic_partition}: {self.positions_text}", *lines])

    def _marks(self, cell: Cell) -> list[str]:
        return ["yes" if cell.offset in offsets else "-" for offsets in self.handed_out.values()]

    def _repr_svg_(self) -> str:
        return draw_log(self)


def read_log(
    bootstrap_servers: str, topic: str, partition: int = 0, *, offsets_max: int = OFFSETS_SHOWN_MAX
) -> PartitionLog:
    """The last `offsets_max` offsets of a partition, or as many as there are."""
    topic_partition = TopicPartition(topic, partition)
    with Admin(bootstrap_servers) as admin:
        if partition not in (there := admin.describe_topics([topic])[topic].partitions):
            raise UnknownTopicOrPartition(f"topic '{topic}' has partitions 0 to {max(there)}, not {partition}")
        start_offset = admin.earliest_offsets([topic_partition])[topic_partition]
        last_stable_offset = admin.latest_offsets([topic_partition], read_committed=True)[topic_partition]
        high_watermark = admin.latest_offsets([topic_partition])[topic_partition]
        shown = OffsetRange(max(start_offset, high_watermark - offsets_max), high_watermark)
        cells = [
            cell
            for batch in inspect_batches(admin.cluster, topic_partition, shown, deadline=Deadline(TIMEOUT_S))
            for cell in _cells(batch)
            if cell.offset in shown
        ]
    return PartitionLog(
        topic_partition,
        tuple(cells),
        last_stable_offset,
        high_watermark,
        {
            READ_COMMITTED: _handed_out(
                bootstrap_servers, topic_partition, OffsetRange(shown.start_offset, last_stable_offset), READ_COMMITTED
            ),
            READ_UNCOMMITTED: _handed_out(bootstrap_servers, topic_partition, shown, READ_UNCOMMITTED),
        },
    )


def _cells(batch: InspectedBatch) -> list[Cell]:
    identity = ProducerIdentity(batch.header.producer_id, batch.header.producer_epoch)
    if batch.marker is not None:
        kind = "COMMIT" if batch.marker.is_commit else "ABORT"
        return [Cell(batch.header.base_offset, batch.outcome, kind, identity)]
    return [Cell(record.offset, batch.outcome, _text(record.value), identity) for record in read_records(batch.batch)]


def _handed_out(
    bootstrap_servers: str, topic_partition: TopicPartition, offsets: OffsetRange, isolation_level: str
) -> frozenset[int]:
    """What a consumer gets until it stands at the end of the range."""
    deadline = Deadline(TIMEOUT_S)
    found: set[int] = set()
    with Consumer(bootstrap_servers, isolation_level=isolation_level) as consumer:
        consumer.assign([topic_partition])
        consumer.seek(topic_partition, offsets.start_offset)
        while consumer.position(topic_partition) < offsets.end_offset:
            if deadline.has_passed:
                raise Timeout(
                    f"{topic_partition}: reading up to offset {offsets.end_offset} took more than {TIMEOUT_S:.0f} s"
                )
            found.update(record.offset for record in consumer.poll(POLL_S) if record.offset in offsets)
    return frozenset(found)


def _words(cell: Cell) -> list[str]:
    producer = "-" if cell.identity == NO_IDENTITY else f"{cell.identity.producer_id}:{cell.identity.producer_epoch}"
    return [cell.text, producer]


def _text(value: bytes | None) -> str:
    return "null" if value is None else value.decode("utf-8", "backslashreplace")


CELL_WIDTH, CELL_HEIGHT, GAP = 78, 44, 6
LEFT, MARGIN = 156, 24
FLAGS_TOP, CELLS_TOP, ROW_HEIGHT = 52, 104, 24
WIDTH_MIN, LEGEND_STEP = 720, 98
TEXT_CHARACTERS_MAX = 9
CELLS_BESIDE_FLAG_MAX = 2
"""Behind more cells than these the words of the flag for both offsets have more room on its left."""
FLAG_CHARACTER_WIDTH = 8.1

INK, SOFT, LINE, PAPER, STABLE = "#1c2733", "#5d6b7a", "#dde3ea", "#ffffff", "#6b4fa0"
FILLS = {
    Outcome.PLAIN: ("#dbe7f6", "#4a6fa5", INK),
    Outcome.COMMITTED: ("#d3efe1", "#1b8a5a", INK),
    Outcome.ABORTED: ("#f9dedb", "#c7372f", "#8f2a24"),
    Outcome.OPEN: ("#fdeccd", "#d9822b", INK),
    Outcome.MARKER: ("#3c4a59", "#3c4a59", "#ffffff"),
}
"""Fill, outline, text."""


def draw_log(log: PartitionLog) -> str:
    """As SVG: a cell for each offset, flags at the last stable offset and the high watermark, and below the cells who
    wrote them and what each kind of reader was given.

    Colours are attributes and the paper is white: viewers of notebooks show the picture as an image, where neither a
    style sheet nor the theme of the page reaches it. What colour says, shape says too: open cells are dashed, aborted
    ones struck through, markers dark.
    """
    flag_width = round(FLAG_CHARACTER_WIDTH * len(f"last stable offset {log.high_watermark}"))
    width = max(WIDTH_MIN, LEFT + CELL_WIDTH * len(log.cells) + flag_width + MARGIN)
    readers_top = CELLS_TOP + CELL_HEIGHT + 2 * ROW_HEIGHT
    height = readers_top + ROW_HEIGHT * len(log.handed_out) + 20
    title = f"The log of {log.topic_partition}: {log.positions_text}"
    parts = [
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{PAPER}" stroke="{LINE}"/>',
        _label(18, 26, str(log.topic_partition), size=16, weight="bold"),
        *_legend(log, width),
        *(part for index, cell in enumerate(log.cells) for part in _cell(cell, _left_of(index))),
        *_producers(log),
        *(
            part
            for row, (isolation_level, offsets) in enumerate(log.handed_out.items())
            for part in _reader(log, isolation_level, offsets, readers_top + ROW_HEIGHT * row + 14)
        ),
        *_flags(log, height),
    ]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(title)}">'
    )
    return "\n".join([opening, f"<title>{escape(title)}</title>", *parts, "</svg>"])


def _cell(cell: Cell, left: int) -> list[str]:
    fill, outline, ink = FILLS[cell.outcome]
    dashes = ' stroke-dasharray="5 3"' if cell.outcome is Outcome.OPEN else ""
    struck = ' text-decoration="line-through"' if cell.outcome is Outcome.ABORTED else ""
    middle = left + CELL_WIDTH / 2
    weight = "bold" if cell.outcome is Outcome.MARKER else "normal"
    return [
        _label(middle, CELLS_TOP - 8, str(cell.offset), size=12, ink=SOFT, anchor="middle"),
        f'<rect x="{left + GAP / 2:g}" y="{CELLS_TOP}" width="{CELL_WIDTH - GAP}" height="{CELL_HEIGHT}" rx="5" '
        f'fill="{fill}" stroke="{outline}" stroke-width="1.5"{dashes}><title>{escape(cell.text)}: '
        f"{cell.outcome.value}</title></rect>",
        _label(
            middle, CELLS_TOP + 27, _shortened(cell.text), size=12, ink=ink, anchor="middle", weight=weight, more=struck
        ),
    ]


def _producers(log: PartitionLog) -> list[str]:
    top = CELLS_TOP + CELL_HEIGHT + 18
    parts = [_label(LEFT - 12, top, "producer id : epoch", size=12, ink=SOFT, anchor="end")]
    for index, cell in enumerate(log.cells):
        if cell.identity != NO_IDENTITY:
            text = f"{cell.identity.producer_id} : {cell.identity.producer_epoch}"
            parts.append(_label(_left_of(index) + CELL_WIDTH / 2, top, text, size=12, ink=SOFT, anchor="middle"))
    return parts


def _reader(log: PartitionLog, isolation_level: str, offsets: frozenset[int], middle: int) -> list[str]:
    """A track as far as this reader came, a dot for each record that it was given."""
    reach = log.last_stable_offset if isolation_level == READ_COMMITTED else log.high_watermark
    ink = STABLE if isolation_level == READ_COMMITTED else SOFT
    parts = [
        _label(LEFT - 12, middle + 4, isolation_level, size=12, ink=ink, anchor="end", weight="bold"),
        f'<path d="M{LEFT} {middle} H{_boundary(log, reach)}" stroke="{ink}" stroke-width="2" opacity="0.35"/>',
    ]
    for index, cell in enumerate(log.cells):
        if cell.offset in offsets:
            x = _left_of(index) + CELL_WIDTH / 2
            parts.append(f'<circle cx="{x:g}" cy="{middle}" r="6" fill="{ink}"><title>given</title></circle>')
    return parts


def _flags(log: PartitionLog, height: int) -> list[str]:
    stable, high = log.last_stable_offset, log.high_watermark
    if stable == high:
        return _flag(log, high, "last stable offset = high watermark", ink=STABLE, top=FLAGS_TOP + 18, height=height)
    return [
        *_flag(log, high, "high watermark", ink=SOFT, top=FLAGS_TOP + 18, height=height),
        *_flag(log, stable, "last stable offset", ink=STABLE, top=FLAGS_TOP, height=height),
    ]


def _flag(log: PartitionLog, offset: int, name: str, *, ink: str, top: int, height: int) -> list[str]:
    """A line before the cell of this offset. Two flags point right, the upper one over the beginning of the other."""
    x = _boundary(log, offset)
    is_before = "=" in name and len(log.cells) > CELLS_BESIDE_FLAG_MAX
    side, anchor = (-8, "end") if is_before else (8, "start")
    return [
        f'<path d="M{x} {top - 12} V{height - 14}" stroke="{ink}" stroke-width="2"/>',
        _label(x + side, top, f"{name} {offset}", size=13, ink=ink, anchor=anchor, weight="bold"),
    ]


def _legend(log: PartitionLog, width: int) -> list[str]:
    there = [outcome for outcome in FILLS if any(cell.outcome is outcome for cell in log.cells)]
    parts = []
    for place, outcome in enumerate(there):
        x = width - 14 - LEGEND_STEP * (len(there) - place)
        fill, outline, _ = FILLS[outcome]
        dashes = ' stroke-dasharray="3 2"' if outcome is Outcome.OPEN else ""
        parts += [
            f'<rect x="{x}" y="15" width="13" height="13" rx="3" fill="{fill}" stroke="{outline}"{dashes}/>',
            _label(x + 19, 26, outcome.value, size=12, ink=SOFT),
        ]
    return parts


def _label(
    x: float, y: float, text: str, *, size: int, ink: str = INK, anchor: str = "start", weight: str = "normal",
    more: str = "",
) -> str:  # fmt: skip
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{ink}" text-anchor="{anchor}"'
        f"{more}>{escape(text)}</text>"
    )


def _left_of(index: int) -> int:
    return LEFT + CELL_WIDTH * index


def _boundary(log: PartitionLog, offset: int) -> int:
    """Where offset begins: offsets that compaction removed have no cell."""
    return _left_of(sum(cell.offset < offset for cell in log.cells))


def _shortened(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS_MAX else f"{text[: TEXT_CHARACTERS_MAX - 1]}…"
