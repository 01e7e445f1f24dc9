"""The demonstration's story, with other kills than the demonstration's own, and as the command that people type."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.lab.demo.story import ORDINARY, OURS, Plot, Story
from fencepost.lab.demo.timeline import SpanKind

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1200)]


@pytest.mark.parametrize(
    ("kill_at", "aborted"),
    [("token-sent", True), ("after-commit", False)],
)
def test_a_kill_at_another_place_changes_nothing_for_ours(tmp_path: Path, kill_at: str, aborted: bool) -> None:
    said: list[str] = []
    # Micro-batch 0 is empty: it pins where the source starts.
    plot = Plot(per_second=200, kill_at=kill_at, kill_in_batch=2, calm_s=1.0)
    ending = Story(tmp_path, plot, say=said.append, show=lambda _: None).tell()
    ours, ordinary = ending.judgements[OURS], ending.judgements[ORDINARY]
    assert ours.is_exactly_once
    assert ours.purchases == ordinary.purchases > 0
    assert ordinary.duplicates > 0
    broker, driver, transactions, plain_driver = ending.timeline.lanes
    assert [len(lane.kills_s) for lane in (broker, driver, plain_driver)] == [1, 1, 1]
    kinds = {span.kind for span in transactions.spans}
    assert SpanKind.COMMITTED in kinds
    if aborted:
        assert SpanKind.ABORTED in kinds
    assert [text for _, text in ending.timeline.words] == said


def test_the_command_prints_the_verdict_saves_the_page_and_leaves_nothing_running(tmp_path: Path) -> None:
    report = tmp_path / "story.html"
    told = subprocess.run(
        [sys.executable, "-m", "fencepost", "demo", "--json", "--per-second", "200", "--report", str(report)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    verdict = json.loads(told.stdout)[OURS]
    assert (verdict["duplicates"], verdict["lost"], verdict["torn"]) == (0, 0, 0)
    assert verdict["invoices"] == verdict["shipments"] == verdict["purchases"] > 0
    assert "exactly once" in report.read_text(encoding="utf-8")
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "fencepost-demo-" not in left
