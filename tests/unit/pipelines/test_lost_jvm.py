"""A JVM that ends between two looks at it, or during one: the run starts another one and goes on."""

import subprocess
import sys
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from fencepost.pipelines import jvm, runner
from fencepost.pipelines.graph import graph_of
from fencepost.pipelines.pipeline import Pipeline
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.stage import Target

PIPELINE = Pipeline(name="one", reads=("in",), writes=("out",), function=lambda frame: {"out": frame})


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


class StageOf:
    """A pipeline's query that asks its JVM as Spark's does: the first JVM ends at the moment that `dies_at` names."""

    is_stateful, query = False, None
    is_forgotten = False

    def __init__(self, jvms: Jvms, dies_at: str, problem: Exception) -> None:
        self._jvms, self._dies_at, self._problem = jvms, dies_at, problem

    def _ask(self, what: str) -> None:
        if what == self._dies_at and len(self._jvms.started) == 1:
            self._jvms.started[0].kill()
            raise self._problem

    def start(self, *, available_now: bool) -> None:
        self._ask("start")

    @property
    def is_active(self) -> bool:
        self._ask("look")
        return False

    @property
    def problem(self) -> BaseException | None:
        self._ask("why it ended")
        return None

    def stop(self, *, timeout_s: float) -> bool:
        self._ask("stop")
        return True

    def forget(self) -> None:
        self.is_forgotten = True


class Told:
    def __init__(self) -> None:
        self.events: list[str] = []
        self.last: dict[str, Any] = {}

    def event(self, what: str, **details: Any) -> None:
        self.events.append(what)
        self.last = details

    def progress(self, *_: Any) -> None:
        pass

    close = progress


class NoLag:
    def lag(self, *_: Any, **__: Any) -> None:
        return None


@pytest.fixture
def jvms(monkeypatch: pytest.MonkeyPatch):
    made = Jvms()
    monkeypatch.setattr(jvm, "jvm_process", made.process)
    monkeypatch.setattr(jvm, "forget_gateway", lambda: None)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


PROBLEMS = [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("answer is empty"), Py4JError("gone")]


def run_once(jvms: Jvms, monkeypatch: pytest.MonkeyPatch, stage: StageOf) -> Told:
    monkeypatch.setattr(runner, "Stage", lambda *_, **__: stage)
    told: Any = Told()
    lag: Any = NoLag()
    options = {"one": RunOptions()}
    runner.Runner(
        graph_of([PIPELINE]),
        target=Target("unused", "unused"),
        options=options,
        start_session=jvms.start,
        lag=lag,
        reporter=told,
    ).run(once=True)
    return told


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
@pytest.mark.parametrize("moment", ["start", "look", "why it ended"])
def test_a_jvm_that_ends_while_it_is_asked_is_replaced_by_another_one(jvms, monkeypatch, moment, problem) -> None:
    told = run_once(jvms, monkeypatch, StageOf(jvms, moment, problem))
    assert len(jvms.started) == 2
    assert "lost Spark's JVM" in told.events
    assert told.events[-2:] == ["done", "stopped"]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_a_jvm_that_ends_while_the_run_stops_is_no_error(jvms, monkeypatch, problem) -> None:
    stage = StageOf(jvms, "stop", problem)
    told = run_once(jvms, monkeypatch, stage)
    assert len(jvms.started) == 1
    assert told.events[-2:] == ["done", "stopped"]
    assert told.last["micro_batch"] == "whole", "it was done before"
    assert stage.is_forgotten


def test_what_fails_while_the_jvm_lives_is_told(jvms, monkeypatch) -> None:
    monkeypatch.setattr(jvm, "DYING_S", 0.2)
    jvms.start()
    with pytest.raises(Py4JError, match="its own trouble"), jvm.forgiving_its_end():
        raise Py4JError("its own trouble")


def test_whoever_reads_what_is_told_and_goes_away_is_not_waited_for(jvms, monkeypatch) -> None:
    def break_pipe(*_: Any, **__: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(Told, "event", break_pipe)
    monkeypatch.setattr(jvm, "DYING_S", 3600.0)
    with pytest.raises(BrokenPipeError):
        run_once(jvms, monkeypatch, StageOf(jvms, "never", PROBLEMS[0]))
