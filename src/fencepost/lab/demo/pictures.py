"""A timeline as two SVG pictures on one time axis: who lived and was killed when, and how the counts grew."""

from html import escape

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
