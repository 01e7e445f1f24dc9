"""A partition's log as an SVG picture: a cell for each offset, flags at the last stable offset and the high watermark,
and below the cells who wrote them and what each kind of reader was given.

Colours are attributes and the paper is white: viewers of notebooks show the picture as an image, where neither a style
sheet nor the theme of the page reaches it. What colour says, shape says too: open cells are dashed, aborted ones struck
through, markers dark.
"""

from html import escape

from fencepost.client.admin_inspecting import Outcome
from fencepost.client.values import NO_IDENTITY
from fencepost.lab.partition_log import READ_COMMITTED, Cell, PartitionLog

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
    flag_width = round(FLAG_CHARACTER_WIDTH * len(f"last stable offset {log.high_watermark}"))
    width = max(WIDTH_MIN, LEFT + CELL_WIDTH * len(log.cells) + flag_width + MARGIN)
    readers_top = CELLS_TOP + CELL_HEIGHT + 2 * ROW_HEIGHT
    height = readers_top + ROW_HEIGHT * len(log.handed_out) + 20
    title = f"The log of {log.topic_partition}: {log.positions_text}"
    parts = [
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{PAPER}" stroke="{LINE}"/>',
        _words(18, 26, str(log.topic_partition), size=16, weight="bold"),
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
        _words(middle, CELLS_TOP - 8, str(cell.offset), size=12, ink=SOFT, anchor="middle"),
        f'<rect x="{left + GAP / 2:g}" y="{CELLS_TOP}" width="{CELL_WIDTH - GAP}" height="{CELL_HEIGHT}" rx="5" '
        f'fill="{fill}" stroke="{outline}" stroke-width="1.5"{dashes}><title>{escape(cell.text)}: '
        f"{cell.outcome.value}</title></rect>",
        _words(
            middle, CELLS_TOP + 27, _shortened(cell.text), size=12, ink=ink, anchor="middle", weight=weight, more=struck
        ),
    ]


def _producers(log: PartitionLog) -> list[str]:
    top = CELLS_TOP + CELL_HEIGHT + 18
    parts = [_words(LEFT - 12, top, "producer id : epoch", size=12, ink=SOFT, anchor="end")]
    for index, cell in enumerate(log.cells):
        if cell.identity != NO_IDENTITY:
            text = f"{cell.identity.producer_id} : {cell.identity.producer_epoch}"
            parts.append(_words(_left_of(index) + CELL_WIDTH / 2, top, text, size=12, ink=SOFT, anchor="middle"))
    return parts


def _reader(log: PartitionLog, isolation_level: str, offsets: frozenset[int], middle: int) -> list[str]:
    """A track as far as this reader came, a dot for each record that it was given."""
    reach = log.last_stable_offset if isolation_level == READ_COMMITTED else log.high_watermark
    ink = STABLE if isolation_level == READ_COMMITTED else SOFT
    parts = [
        _words(LEFT - 12, middle + 4, isolation_level, size=12, ink=ink, anchor="end", weight="bold"),
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
        _words(x + side, top, f"{name} {offset}", size=13, ink=ink, anchor=anchor, weight="bold"),
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
            _words(x + 19, 26, outcome.value, size=12, ink=SOFT),
        ]
    return parts


def _words(
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
