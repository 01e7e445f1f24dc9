"""The saved page: it shows what it was given, well formed, and needs nothing from elsewhere."""

import re
from xml.etree import ElementTree

import pytest

from fencepost.lab.demo.purchases import Judgement
from fencepost.lab.demo.report import Scale, curves_picture, lanes_picture, report_page
from fencepost.lab.demo.timeline import Curve, Lane, Span, SpanKind, Timeline

CLEAN = Judgement(purchases=1200, invoices=1200, shipments=1200, duplicates=0, lost=0, torn=0)
REPEATED = Judgement(purchases=1200, invoices=1300, shipments=1250, duplicates=150, lost=0, torn=0)


@pytest.fixture
def timeline() -> Timeline:
    return Timeline(
        lanes=[
            Lane("broker", [Span(0, 10, SpanKind.UP, "first"), Span(12, 30, SpanKind.UP, "second")], [10.0]),
            Lane(
                "transactions",
                [Span(3, 4, SpanKind.COMMITTED, "batch <0>"), Span(9, 13, SpanKind.ABORTED, "batch 1")],
            ),
        ],
        curves=[Curve("purchases", [(1.0, 100), (20.0, 1200)]), Curve("empty")],
        words=[(0.0, "It starts & runs."), (31.5, "It ends.")],
    )


def test_a_picture_is_well_formed_and_has_a_bar_for_each_span(timeline: Timeline) -> None:
    picture = ElementTree.fromstring(lanes_picture(timeline))
    kinds = [bar.get("class") for bar in picture.iter("rect")]
    assert kinds == ["up", "up", "committed", "aborted"]
    assert len([group for group in picture.iter("g") if group.get("class") == "kill"]) == 1


def test_bars_stand_in_the_order_of_time(timeline: Timeline) -> None:
    picture = ElementTree.fromstring(lanes_picture(timeline))
    lefts = [float(bar.get("x", "nan")) for bar in picture.iter("rect")]
    assert lefts[0] < lefts[1]
    assert lefts[2] < lefts[3]


def test_a_curve_without_points_is_left_out(timeline: Timeline) -> None:
    picture = ElementTree.fromstring(curves_picture(timeline))
    legends = [text.text for text in picture.iter("text") if text.get("class") == "legend"]
    assert legends == ["purchases: 1,200"]


@pytest.mark.parametrize("end_s", [0, 0.4, 7, 59, 61, 1000, 5000])
def test_the_axis_has_a_few_ticks_whatever_the_length(end_s: float) -> None:
    assert 1 <= len(Scale(end_s).ticks()) <= 18


def test_the_page_tells_the_verdict_and_marks_what_is_wrong(timeline: Timeline) -> None:
    page = report_page(timeline, {"ours": CLEAN, "ordinary": REPEATED}, ["fencepost topics list"])
    assert "Fencepost's pipeline: exactly once." in page
    assert re.findall(r'<td class="number wrong">([\d,]+)</td>', page) == ["150"]
    assert "It starts &amp; runs." in page
    assert "fencepost topics list" in page


def test_a_broken_promise_is_not_called_exactly_once(timeline: Timeline) -> None:
    assert "NOT exactly once" in report_page(timeline, {"ours": REPEATED}, [])


def test_the_page_needs_nothing_from_elsewhere(timeline: Timeline) -> None:
    page = report_page(timeline, {"ours": CLEAN}, [])
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
