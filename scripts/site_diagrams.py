"""State diagrams of the site: Mermaid's text becomes a picture with numbered arrows and a table that explains them.

States stand in columns, as many arrows from the beginning as the column says. Arrows forward leave to the right;
arrows back run below, or above from the upper half; an arrow from a state to itself is a loop on top.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

DIAGRAM = re.compile(r"^```mermaid\nstateDiagram-v2\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ARROW = re.compile(r"^ *(\S+) --> (\S+)(?:: (.*))?$", re.MULTILINE)
OUTSIDE = "[*]"
WIDTH, HEIGHT = 132, 34
COLUMN, ROW = 215, 112
MARGIN = 70
BEND = 26


class Arrow(NamedTuple):
    start: str
    end: str
    cause: str


class Spot(NamedTuple):
    """The middle of a state."""

    x: float
    y: float


def with_pictures(markdown: str) -> str:
    return DIAGRAM.sub(lambda found: picture_and_table(found[1]), markdown)


def picture_and_table(text: str) -> str:
    arrows = [Arrow(*found) for found in ARROW.findall(text)]
    rows = [f"| {number} | {arrow.start} | {arrow.end} | {arrow.cause} |" for number, arrow in enumerate(arrows, 1)]
    table = "\n".join(["| | from | to | when |", "|---|---|---|---|", *rows]).replace(OUTSIDE, "-")
    return f'<div class="states">{draw(arrows)}</div>\n\n{table}'


def draw(arrows: list[Arrow]) -> str:
    spots = place(arrows)
    numbers: dict[tuple[str, str], list[str]] = {}
    for number, arrow in enumerate(arrows, 1):
        numbers.setdefault((arrow.start, arrow.end), []).append(str(number))
    middle = sum(spot.y for spot in spots.values()) / len(spots)
    shapes = [
        shape
        for index, ((start, end), labels) in enumerate(numbers.items())
        for shape in draw_arrow(
            spots[start], spots[end], ", ".join(labels), is_above=spots[start].y < middle, index=index
        )
    ]
    shapes += [draw_state(name, spot) for name, spot in spots.items()]
    width = max(spot.x for spot in spots.values()) + MARGIN + WIDTH / 2
    height = max(spot.y for spot in spots.values()) + 2 * MARGIN
    return f'<svg width="{width:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">{HEAD}{"".join(shapes)}</svg>'


def place(arrows: list[Arrow]) -> dict[str, Spot]:
    """In columns, by the least number of arrows from outside."""
    columns: dict[str, int] = {OUTSIDE: 0}
    waiting = [OUTSIDE]
    while waiting:
        start = waiting.pop(0)
        for arrow in arrows:
            if arrow.start == start and arrow.end not in columns:
                columns[arrow.end] = columns[start] + 1
                waiting.append(arrow.end)
    heights = [list(columns.values()).count(column) for column in range(max(columns.values()) + 1)]
    tallest = max(heights)
    taken = [0.0] * len(heights)
    spots = {}
    for name, column in columns.items():
        row = taken[column] + (tallest - heights[column]) / 2
        spots[name] = Spot(MARGIN / 2 + COLUMN * column, 2 * MARGIN + ROW * row)
        taken[column] += 1
    return spots


def draw_state(name: str, spot: Spot) -> str:
    if name == OUTSIDE:
        return f'<circle cx="{spot.x:.0f}" cy="{spot.y:.0f}" r="8" class="outside"/>'
    left, top = spot.x - WIDTH / 2, spot.y - HEIGHT / 2
    return (
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{spot.x:.0f}" y="{spot.y + 5:.0f}">{name}</text>'
    )


def draw_arrow(start: Spot, end: Spot, label: str, *, is_above: bool, index: int) -> Iterable[str]:
    points = bend(start, end, is_above=is_above, index=index)
    first, *others = [f"{x:.0f} {y:.0f}" for x, y in points]
    yield f'<path d="M{first}C{" ".join(others)}" marker-end="url(#head)"/>'
    # A point of a cubic curve: the middle going forward, elsewhere spread, because such arrows run side by side.
    t = 0.5 if end.x > start.x else 0.32 + 0.18 * (index % 3)
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    x = sum(weight * point[0] for weight, point in zip(weights, points, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, points, strict=True))
    yield f'<text class="number" x="{x:.0f}" y="{y + 4:.0f}">{label}</text>'


def bend(start: Spot, end: Spot, *, is_above: bool, index: int) -> list[tuple[float, float]]:
    if start == end:
        top = start.y - HEIGHT / 2
        return [(start.x - 24, top), (start.x - 44, top - 56), (start.x + 44, top - 56), (start.x + 24, top)]
    if end.x > start.x:
        left, right = start.x + (WIDTH / 2 if start.x > MARGIN else 8), end.x - WIDTH / 2
        half = (right - left) / 2
        return [(left, start.y), (left + half, start.y), (right - half, end.y), (right, end.y)]
    if end.x == start.x:
        away = 1 if end.y > start.y else -1
        side = start.x + away * WIDTH / 2
        out = side + away * BEND * 1.6
        return [(side, start.y), (out, start.y), (out, end.y), (side, end.y)]
    away = -1 if is_above else 1
    depth = away * (HEIGHT / 2 + BEND * (1 + index % 3))
    shift = 10 * (index % 3 - 1)
    first, last = start.y + away * HEIGHT / 2, end.y + away * HEIGHT / 2
    far = (min if is_above else max)(first, last) + depth
    return [(start.x + shift, first), (start.x + shift, far), (end.x + shift, far), (end.x + shift, last)]


HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z"/></marker></defs>'
)
