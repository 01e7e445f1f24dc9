"""The demonstration as one HTML page that needs nothing else: the verdict, the story in words, and two SVG pictures on
one time axis: which process lived and was killed when, and how the counts grew.
"""

from collections.abc import Mapping, Sequence
from html import escape

from fencepost.lab.demo.purchases import Judgement
from fencepost.lab.demo.timeline import Curve, Lane, Timeline

WIDTH, LEFT, RIGHT = 960, 190, 20
LANE_HEIGHT, BAR_HEIGHT = 44, 18
CURVES_HEIGHT = 240
TICKS_WANTED = 8
NICE_STEPS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300)


class Scale:
    """Seconds to pixels."""

    def __init__(self, end_s: float) -> None:
        self.end_s = max(end_s, 1.0)

    def __call__(self, at_s: float) -> float:
        return LEFT + min(max(at_s, 0.0), self.end_s) / self.end_s * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> list[int]:
        step = next((step for step in NICE_STEPS if self.end_s / step <= TICKS_WANTED), NICE_STEPS[-1])
        return list(range(0, int(self.end_s) + 1, step))


def lanes_picture(timeline: Timeline) -> str:
    scale = Scale(timeline.end_s)
    height = LANE_HEIGHT * len(timeline.lanes) + 30
    parts = [_axis(scale, height)]
    for row, lane in enumerate(timeline.lanes):
        parts += _lane(scale, lane, row * LANE_HEIGHT)
    return _svg(height, parts, "Processes, transactions and kills over time")


def curves_picture(timeline: Timeline) -> str:
    scale = Scale(timeline.end_s)
    most = max((count for curve in timeline.curves for _, count in curve.points), default=1)
    parts = [_axis(scale, CURVES_HEIGHT + 30)]
    parts += [_count_line(share, most) for share in (0.25, 0.5, 0.75, 1.0)]
    for number, curve in enumerate(timeline.curves):
        parts += _curve(scale, curve, most, number)
    return _svg(CURVES_HEIGHT + 30, parts, "Records over time")


def _lane(scale: Scale, lane: Lane, top: int) -> list[str]:
    parts = [f'<text class="name" x="{LEFT - 12}" y="{top + 27}" text-anchor="end">{escape(lane.name)}</text>']
    for span in lane.spans:
        left, right = scale(span.start_s), scale(span.end_s)
        parts.append(
            f'<rect class="{span.kind}" x="{left:.1f}" y="{top + 13}" width="{max(right - left, 2):.1f}" '
            f'height="{BAR_HEIGHT}" rx="2"><title>{escape(span.label)}</title></rect>'
        )
    for kill_s in lane.kills_s:
        x = scale(kill_s)
        parts.append(
            f'<g class="kill"><title>kill -9 at {kill_s:.1f} s</title>'
            f'<path d="M{x - 7:.1f} {top + 15} l14 14 m0 -14 l-14 14"/></g>'
            f'<text class="kill-name" x="{x:.1f}" y="{top + 10}" text-anchor="middle">kill -9</text>'
        )
    return parts


def _curve(scale: Scale, curve: Curve, most: int, number: int) -> list[str]:
    """A staircase: between two points nothing was added."""
    if not curve.points:
        return []
    path = [f"M{scale(curve.points[0][0]):.1f} {_height_of(0, most):.1f}"]
    for at_s, count in curve.points:
        path.append(f"H{scale(at_s):.1f} V{_height_of(count, most):.1f}")
    path.append(f"H{scale(scale.end_s):.1f}")
    legend_y = 20 + 18 * number
    return [
        f'<path class="curve curve-{number}" d="{" ".join(path)}"/>',
        f'<path class="curve curve-{number}" d="M{LEFT + 14} {legend_y - 4} h22"/>',
        f'<text class="legend" x="{LEFT + 42}" y="{legend_y}">{escape(curve.name)}: {curve.points[-1][1]:,}</text>',
    ]


def _height_of(count: int, most: int) -> float:
    return CURVES_HEIGHT - count / max(most, 1) * (CURVES_HEIGHT - 10)


def _count_line(share: float, most: int) -> str:
    y = _height_of(round(most * share), most)
    return (
        f'<path class="grid" d="M{LEFT} {y:.1f} H{WIDTH - RIGHT}"/>'
        f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{round(most * share):,}</text>'
    )


def _axis(scale: Scale, height: int) -> str:
    bottom = height - 26
    lines = [f'<path class="grid" d="M{scale(tick):.1f} 0 V{bottom}"/>' for tick in scale.ticks()]
    words = [
        f'<text class="tick" x="{scale(tick):.1f}" y="{height - 8}" text-anchor="middle">{tick} s</text>'
        for tick in scale.ticks()
    ]
    return "".join(lines + words)


def _svg(height: int, parts: list[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --paper: #ffffff; --soft: #5d6b7a; --line: #dde3ea;
  --good: #1b8a5a; --bad: #c7372f; --up: #b9c7d6; --first: #4a6fa5; --second: #1b8a5a; --third: #d9822b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --paper: #14191f; --soft: #93a1b0; --line: #2b343e;
  --good: #3fbf86; --bad: #ef6a61; --up: #3d4b5a; --first: #7ea6df; --second: #3fbf86; --third: #f0a04f; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.verdict { font-size: 1.1rem; color: var(--good); font-weight: 600; } .verdict.broken { color: var(--bad); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .7rem; border-bottom: 1px solid var(--line); }
th { text-align: left; color: var(--soft); font-weight: 600; } td.number, th.number { text-align: right; }
td.wrong { color: var(--bad); font-weight: 700; } td.at { color: var(--soft); white-space: nowrap; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); } svg .grid { stroke: var(--line); fill: none; }
svg .up { fill: var(--up); } svg .committed { fill: var(--good); } svg .aborted { fill: var(--bad); opacity: .75; }
svg .kill path { stroke: var(--bad); stroke-width: 3; fill: none; }
svg .kill-name { fill: var(--bad); font-weight: 700; }
svg .curve { fill: none; stroke-width: 2; } svg .curve-0 { stroke: var(--first); }
svg .curve-1 { stroke: var(--second); }
svg .curve-2 { stroke: var(--third); stroke-dasharray: 5 3; }
code { font-size: .95em; } .key { display: inline-block; width: .9em; height: .9em; border-radius: 2px; }
"""
COLUMNS = ("purchases", "invoices", "shipments", "duplicates", "lost", "torn")
FAULTS = ("duplicates", "lost", "torn")


def report_page(timeline: Timeline, judgements: Mapping[str, Judgement], next_commands: Sequence[str]) -> str:
    ours = next(iter(judgements.values()))
    verdict = "exactly once" if ours.is_exactly_once else "NOT exactly once"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Fencepost: {verdict}</title><style>{STYLE}</style></head><body>
<h1>A shop that was killed, and what arrived</h1>
<p class="verdict{"" if ours.is_exactly_once else " broken"}">Fencepost's pipeline: {verdict}.</p>
{_table(judgements)}
<h2>Processes, transactions, kills</h2>
{lanes_picture(timeline)}
<p><span class="key" style="background: var(--good)"></span> committed transaction
&nbsp; <span class="key" style="background: var(--bad)"></span> aborted transaction: its records are in the log, and no
<code>read_committed</code> reader ever sees them. The bars are read from the log itself: from the first batch of a
transaction to its marker.</p>
<h2>Records</h2>
{curves_picture(timeline)}
<h2>What happened</h2>
<table>{_story(timeline)}</table>
<h2>Try next</h2>
{"".join(f"<p><code>{escape(command)}</code></p>" for command in next_commands)}
</body></html>
"""


def _story(timeline: Timeline) -> str:
    return "".join(f'<tr><td class="at">{at_s:.1f} s</td><td>{escape(text)}</td></tr>' for at_s, text in timeline.words)


def _table(judgements: Mapping[str, Judgement]) -> str:
    heads = "".join(f'<th class="number">{column}</th>' for column in COLUMNS)
    rows = "".join(f"<tr><td>{escape(name)}</td>{_cells(judgement)}</tr>" for name, judgement in judgements.items())
    return f"<table><tr><th>pipeline</th>{heads}</tr>{rows}</table>"


def _cells(judgement: Judgement) -> str:
    cells = []
    for column in COLUMNS:
        count = getattr(judgement, column)
        wrong = " wrong" if column in FAULTS and count else ""
        cells.append(f'<td class="number{wrong}">{count:,}</td>')
    return "".join(cells)
