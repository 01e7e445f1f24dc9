"""Runs the pipelines of a file, one query each, until it is stopped; a query that fails is started again after a pause.

The loop is one thread that looks at every stage a few times a second: has it ended, and why; is its pause over; what
is its lag. A JVM that died takes the session with it: a new session is started, and all stages on it. With `once`,
stages run one after the other in the graph's order, each until it has read what was there, and the run ends.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.errors import FencepostError
from fencepost.pipelines.graph import Graph
from fencepost.pipelines.jvm import end_session, forgiving_its_end, is_jvm_alive
from fencepost.pipelines.pipeline import Pipeline
from fencepost.pipelines.progress import DONE, FAILED, RUNNING, STARTING, STOPPED, WAITING, LagWatch, Progress, Reporter
from fencepost.pipelines.restarting import BackOff, in_one_line, in_words, is_final
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.stage import Stage, Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost.spark.sink.errors import SinkEvent

TICK_S = 0.2
LAG_INTERVAL_S = 1.0
STOP_TIMEOUT_S = 30.0


class RunFailed(FencepostError):  # noqa: N818 - it names a state of the run
    """A pipeline ended for a reason that another start would not mend, or too often."""


@dataclass
class Slot:
    """A pipeline's place in the run: its stage while there is a session, its back-off, when to start it."""

    pipeline: Pipeline
    options: RunOptions
    stage: Stage | None = None
    back_off: BackOff = field(default_factory=BackOff)
    start_at_s: float | None = 0.0
    """On the monotonic clock; None while it runs or when it is done."""
    is_done: bool = False


class Runner:
    def __init__(
        self,
        graph: Graph,
        *,
        target: Target,
        options: dict[str, RunOptions],
        start_session: Callable[[], "SparkSession"],
        lag: LagWatch,
        reporter: Reporter,
        max_restarts: int | None = None,
    ) -> None:
        self._target = target
        self._slots = [Slot(stage, options[stage.name]) for stage in graph.stages]
        self._start_session = start_session
        self._lag = lag
        self._reporter = reporter
        self._max_restarts = max_restarts
        self.progress = Progress.of([stage.name for stage in graph.stages])
        self._spark: SparkSession | None = None
        self._is_stopping = threading.Event()
        self._next_lag_s = 0.0

    def stop(self) -> None:
        """Ends `run` soon; safe in a signal handler and from any thread."""
        self._is_stopping.set()

    def run(self, *, once: bool = False) -> None:
        """Returns when stopped, or with `once` when everything was read. Raises `RunFailed`."""
        try:
            for slots in [[slot] for slot in self._slots] if once else [self._slots]:
                self._run_group(slots, once=once)
        finally:
            self._end()

    def _run_group(self, slots: list[Slot], *, once: bool) -> None:
        while not self._is_stopping.is_set() and not all(slot.is_done for slot in slots):
            self._ensure_session()
            for slot in slots:
                self._look_at(slot, once=once)
            self._watch_lag()
            self._reporter.progress(self.progress.snapshot())
            self._is_stopping.wait(TICK_S)

    def _ensure_session(self) -> None:
        if self._spark is not None and is_jvm_alive():
            return
        if self._spark is not None:
            self._reporter.event("lost Spark's JVM", consequence="starting another one")
            end_session(self._spark)
            for slot in self._slots:
                if slot.stage is not None:
                    slot.stage.forget()
                slot.stage = None
                if not slot.is_done and slot.start_at_s is None:
                    self._restart_later(slot, RuntimeError("Spark's JVM ended"))
        self._spark = self._start_session()

    def _look_at(self, slot: Slot, *, once: bool) -> None:
        name = slot.pipeline.name
        if slot.is_done:
            return
        if slot.start_at_s is not None:
            if time.monotonic() >= slot.start_at_s:
                self._start(slot, once=once)
            return
        stage = slot.stage
        if stage is None:
            return
        has_ended, problem = False, None
        with forgiving_its_end():
            is_active = stage.is_active
            self._count_rows(slot, stage)  # after asking: an ended query has reported everything
            problem = None if is_active else stage.problem
            has_ended = not is_active  # last: a JVM that ended on the way here says nothing about the query
        if not has_ended:
            return
        stage.forget()
        if problem is not None:
            self._restart_later(slot, problem)
        elif once:
            slot.is_done = True
            self.progress.update(name, state=DONE)
            self._report_final_progress()
            self._reporter.event("done", pipeline=name)
        else:
            self._restart_later(slot, RuntimeError("the query ended without an error"))

    def _start(self, slot: Slot, *, once: bool) -> None:
        name = slot.pipeline.name
        try:
            if slot.stage is None:
                slot.stage = self._make_stage(slot)
            slot.stage.start(available_now=once)
        except Exception as problem:  # noqa: BLE001 - the table of final errors decides
            self._restart_later(slot, problem)
            return
        slot.start_at_s = None
        self.progress.update(name, state=RUNNING)
        self._reporter.event("started", pipeline=name, kind="stateful" if slot.stage.is_stateful else "stateless")

    def _make_stage(self, slot: Slot) -> Stage:
        self.progress.update(slot.pipeline.name, state=STARTING)
        if self._spark is None:
            raise RuntimeError("there is no Spark session")

        def on_event(event: "SinkEvent") -> None:
            if not event.is_skipped:  # what the ledger had already says nothing about this start
                slot.back_off.reset()
            self.progress.committed(event)

        return Stage(self._spark, slot.pipeline, target=self._target, options=slot.options, on_event=on_event)

    def _restart_later(self, slot: Slot, problem: BaseException) -> None:
        name, message = slot.pipeline.name, in_one_line(problem)
        pause_s = slot.back_off.next_pause_s()
        is_out_of_tries = self._max_restarts is not None and slot.back_off.failures > self._max_restarts
        if is_final(problem) or is_out_of_tries:
            self.progress.update(name, state=FAILED, problem=message)
            self._reporter.event("failed", pipeline=name, problem=in_words(problem))
            raise RunFailed(f"pipeline '{name}' cannot go on: {in_words(problem)}") from problem
        slot.start_at_s = time.monotonic() + pause_s
        self.progress.add(name, restarts=1)
        self.progress.update(name, state=WAITING, problem=message)
        self._reporter.event("restarting", pipeline=name, in_seconds=pause_s, problem=message)

    def _count_rows(self, slot: Slot, stage: Stage) -> None:
        if stage.query is None:
            return
        name = slot.pipeline.name
        for report in stage.query.recentProgress:
            # An idle trigger reports too, with the number of the micro-batch that is yet to come.
            is_of_batch = "addBatch" in report["durationMs"]
            if is_of_batch and report["batchId"] > self.progress.stages[name].counted_batch_id:
                self.progress.add(name, rows_in=report["numInputRows"])
                self.progress.update(name, counted_batch_id=report["batchId"])

    def _watch_lag(self) -> None:
        now_s = time.monotonic()
        if now_s < self._next_lag_s:
            return
        for slot in self._slots:
            query, reported = slot.stage.query if slot.stage is not None else None, None
            with forgiving_its_end():
                reported = query and query.lastProgress
            group_id = self._target.group_id(slot.pipeline, slot.options)
            found = self._lag.lag(slot.pipeline.reads, group_id=group_id, progress=reported)
            self.progress.update(slot.pipeline.name, lag=found)
        self._next_lag_s = time.monotonic() + LAG_INTERVAL_S

    def _end(self) -> None:
        for slot in self._slots:
            if slot.stage is not None:
                self._stop(slot, slot.stage)
        self._report_final_progress()
        end_session(self._spark)

    def _stop(self, slot: Slot, stage: Stage) -> None:
        name, is_clean = slot.pipeline.name, slot.is_done
        if is_jvm_alive():
            with forgiving_its_end():
                is_clean = stage.stop(timeout_s=STOP_TIMEOUT_S)
                self._count_rows(slot, stage)
        stage.forget()  # also where there was no JVM to stop it
        if self.progress.stages[name].state in (RUNNING, WAITING, STARTING):
            self.progress.update(name, state=STOPPED)
        self._reporter.event("stopped", pipeline=name, micro_batch="whole" if is_clean else "cut off")

    def _report_final_progress(self) -> None:
        if is_jvm_alive():
            self._next_lag_s = 0.0
            self._watch_lag()
        self._reporter.progress(self.progress.snapshot())
