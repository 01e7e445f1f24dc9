"""What a run does when a pipeline fails, or when its JVM ends between two looks at it or during one."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from fencepost.pipelines import jvm, restarting, runner
from fencepost.pipelines.graph import graph_of
from fencepost.pipelines.pipeline import Pipeline
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.stage import Target
from fencepost.spark.sink.errors import SinkEvent

PIPELINE = Pipeline(name="one", reads=("in",), writes=("out",), function=lambda frame: {"out": frame})
STARTS_MAX = 20


class Jvms:
    """Sessions, each with a process of its own that does nothing but live."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self) -> Any:
        self.started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return self

    def process(self) -> "subprocess.Popen[bytes] | None":
        return self.started[-1] if self.started else None

    def stop(self) -> None:
        """What a session is asked at the end."""


@pytest.fixture
def jvms(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jvms]:
    made = Jvms()
    monkeypatch.setattr(jvm, "jvm_process", made.process)
    monkeypatch.setattr(jvm, "forget_gateway", lambda: None)
    monkeypatch.setattr(runner, "TICK_S", 0.01)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


class FakeStage:
    """A query that has ended when it is looked at. `ask` is called with each thing that its JVM is asked."""

    is_stateful, is_forgotten = False, False
    query: Any = None

    def __init__(self, ask: Callable[[str], None], problem: Exception | None = None) -> None:
        self._ask, self._problem = ask, problem

    def start(self, *, available_now: bool) -> None:
        self._ask("start")

    @property
    def is_active(self) -> bool:
        self._ask("look")
        return False

    @property
    def problem(self) -> BaseException | None:
        self._ask("why it ended")
        return self._problem

    def stop(self, *, timeout_s: float) -> bool:
        self._ask("stop")
        return True

    def forget(self) -> None:
        self.is_forgotten = True


class Told:
    """Reporter and lag watch of a run."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.last: dict[str, Any] = {}

    def event(self, what: str, **details: Any) -> None:
        self.events.append(what)
        self.last = details

    def progress(self, stages: Any) -> None:
        self.stages = stages

    def lag(self, *_: Any, **__: Any) -> None:
        return None


def run_once(
    jvms: Jvms, monkeypatch: pytest.MonkeyPatch, make_stage: Callable[..., FakeStage], max_restarts: int | None = None
) -> Told:
    monkeypatch.setattr(runner, "Stage", make_stage)
    told: Any = Told()
    runner.Runner(
        graph_of([PIPELINE]),
        target=Target("unused", "unused"),
        options={"one": RunOptions()},
        start_session=jvms.start,
        lag=told,
        reporter=told,
        max_restarts=max_restarts,
    ).run(once=True)
    return told


def ends_at(jvms: Jvms, moment: str, problem: Exception) -> FakeStage:
    """The first JVM ends when it is asked this."""

    def ask(what: str) -> None:
        if what == moment and len(jvms.started) == 1:
            jvms.started[0].kill()
            raise problem

    return FakeStage(ask)


PROBLEMS = [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("answer is empty"), Py4JError("gone")]
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)


@each_problem
@pytest.mark.parametrize("moment", ["start", "look", "why it ended"])
def test_a_jvm_that_ends_while_it_is_asked_is_replaced_by_another_one(jvms, monkeypatch, moment, problem) -> None:
    stage = ends_at(jvms, moment, problem)
    told = run_once(jvms, monkeypatch, lambda *_, **__: stage)
    assert len(jvms.started) == 2
    assert "lost Spark's JVM" in told.events
    assert told.events[-2:] == ["done", "stopped"]


@each_problem
def test_a_jvm_that_ends_while_the_run_stops_is_no_error(jvms, monkeypatch, problem) -> None:
    stage = ends_at(jvms, "stop", problem)
    told = run_once(jvms, monkeypatch, lambda *_, **__: stage)
    assert len(jvms.started) == 1
    assert told.events[-2:] == ["done", "stopped"]
    assert told.last["micro_batch"] == "whole", "it was done before"
    assert stage.is_forgotten


def test_what_fails_while_the_jvm_lives_is_told(jvms, monkeypatch) -> None:
    monkeypatch.setattr(jvm, "DYING_S", 0.2)
    jvms.start()
    with pytest.raises(Py4JError, match="its own trouble"), jvm.forgiving_its_end():
        raise Py4JError("its own trouble")


def test_a_reader_of_events_that_goes_away_is_not_waited_for(jvms, monkeypatch) -> None:
    def break_pipe(*_: Any, **__: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(Told, "event", break_pipe)
    monkeypatch.setattr(jvm, "DYING_S", 3600.0)
    with pytest.raises(BrokenPipeError):
        run_once(jvms, monkeypatch, lambda *_, **__: FakeStage(lambda _: None))


def test_the_report_of_an_idle_trigger_does_not_hide_the_rows_of_the_micro_batch_after_it(jvms, monkeypatch) -> None:
    idle = {"batchId": 0, "numInputRows": 0, "durationMs": {"latestOffset": 1, "triggerExecution": 1}}
    first = {"batchId": 0, "numInputRows": 7, "durationMs": {"addBatch": 90, "triggerExecution": 99}}

    class Query:
        recentProgress, lastProgress = [idle, first, idle | {"batchId": 1}], None  # noqa: N815 - Spark's names

    stage = FakeStage(lambda _: None)
    stage.query = Query()
    told = run_once(jvms, monkeypatch, lambda *_, **__: stage)
    assert [(one.rows_in, one.counted_batch_id) for one in told.stages] == [(7, 0)]


def starts_until_failure(jvms: Jvms, monkeypatch: pytest.MonkeyPatch, event: SinkEvent) -> int:
    """Of a query that fails at every start after this event of its sink; two restarts in a row are allowed."""
    starts: list[str] = []

    def make_stage(*_: Any, on_event: Callable[[SinkEvent], None], **__: Any) -> FakeStage:
        def ask(what: str) -> None:
            if what == "start":
                starts.append(what)
                if len(starts) < STARTS_MAX:
                    on_event(event)

        return FakeStage(ask, problem=OSError("a disk is full"))

    monkeypatch.setattr(runner, "TICK_S", 0.0)
    monkeypatch.setattr(restarting, "FIRST_PAUSE_S", 0.0)
    with pytest.raises(runner.RunFailed, match="a disk is full"):
        run_once(jvms, monkeypatch, make_stage, max_restarts=2)
    return len(starts)


def test_a_micro_batch_that_the_ledger_knew_already_is_no_progress(jvms, monkeypatch) -> None:
    assert starts_until_failure(jvms, monkeypatch, SinkEvent(name="one", batch_id=7, is_skipped=True)) == 3


def test_a_commit_starts_the_count_of_failures_anew(jvms, monkeypatch) -> None:
    assert starts_until_failure(jvms, monkeypatch, SinkEvent(name="one", batch_id=7)) >= STARTS_MAX
