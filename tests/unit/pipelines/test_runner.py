"""The run's patience with a pipeline that fails: what counts as a failure in a row, and what is said at the end."""

from collections.abc import Callable
from typing import Any

import pytest

from fencepost.pipelines import restarting, runner
from fencepost.pipelines.graph import graph_of
from fencepost.pipelines.pipeline import Pipeline
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.stage import Target
from fencepost.spark.sink_errors import SinkEvent

PIPELINE = Pipeline(name="one", reads=("in",), writes=("out",), function=lambda frame: {"out": frame})
STARTS_MAX = 20


class FailingStage:
    """A query that tells `event` of its sink and then fails, at every start."""

    is_stateful, query, is_active = False, None, False

    def __init__(self, event: SinkEvent, on_event: Callable[[SinkEvent], None]) -> None:
        self._event, self._on_event = event, on_event
        self.start_count = 0

    def start(self, *, available_now: bool) -> None:
        self.start_count += 1
        if self.start_count < STARTS_MAX:
            self._on_event(self._event)

    @property
    def problem(self) -> BaseException:
        return OSError("a disk is full")

    def stop(self, *, timeout_s: float) -> bool:
        return True

    def forget(self) -> None:
        pass


class Silent:
    def lag(self, *_: Any, **__: Any) -> None:
        return None

    def event(self, *_: Any, **__: Any) -> None:
        return None

    progress = close = stop = event


def starts_until_failure(monkeypatch: pytest.MonkeyPatch, event: SinkEvent) -> int:
    """With two restarts allowed in a row."""
    stages: list[FailingStage] = []

    def make_stage(*_: Any, on_event: Callable[[SinkEvent], None], **__: Any) -> FailingStage:
        stages.append(FailingStage(event, on_event))
        return stages[-1]

    monkeypatch.setattr(runner, "Stage", make_stage)
    monkeypatch.setattr(runner, "is_jvm_alive", lambda: True)
    monkeypatch.setattr(runner, "end_session", lambda _: None)
    monkeypatch.setattr(runner, "TICK_S", 0.0)
    monkeypatch.setattr(restarting, "FIRST_PAUSE_S", 0.0)
    silent: Any = Silent()
    with pytest.raises(runner.RunFailed, match="a disk is full"):
        runner.Runner(
            graph_of([PIPELINE]),
            target=Target("unused", "unused"),
            options={"one": RunOptions()},
            start_session=lambda: silent,
            lag=silent,
            reporter=silent,
            max_restarts=2,
        ).run(once=True)
    return stages[-1].start_count


def test_a_micro_batch_that_the_ledger_knew_already_is_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert starts_until_failure(monkeypatch, SinkEvent(name="one", batch_id=7, is_skipped=True)) == 3


def test_a_commit_starts_the_count_of_failures_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert starts_until_failure(monkeypatch, SinkEvent(name="one", batch_id=7)) >= STARTS_MAX
