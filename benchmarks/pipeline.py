"""Pipelines from topic to topic, ours beside Spark's own Kafka connector, on our broker and on Apache Kafka.

Ours is `format("fencepost")` into the transactional sink, exactly once, published by the driver or by executors; the
connector is Spark's `kafka` source and sink, at least once, in the same session and with stock checkpoint files. Each
is a Spark process of its own with the session of `fencepost run`; all of them copy the same topics of four partitions,
in turns. Of each copy the first micro-batch with rows is left out, and every output is read and compared. Needs `make
kafka`; `--broker` leaves one broker out.
"""

import argparse
import signal
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import NamedTuple

from pipeline_parts.engine import TOTAL, Engine, MicroBatch, median_phases, rate, with_rows
from pipeline_parts.engine_program import CONNECTOR, CONNECTORS, Job
from pipeline_parts.topics import PARTITION_COUNT, Topics, numbered
from support.brokers import BROKER_OPTION, Broker, started_brokers
from support.figures import Figure, run_benchmark
from support.scratch import DEFAULT_FOLDER, scratch_folder

ENGINES = (*CONNECTORS, "driver", "executors")
MICRO_BATCH_ROWS = {100: 400_000, 1024: 100_000}
QUICK_MICRO_BATCH_ROWS = {100: 50_000, 1024: 10_000}
MICRO_BATCHES = 3
ARRIVAL_ROWS = 100
WARM_UP_ARRIVALS = 5
ARRIVALS_MIN, ARRIVALS = 5, 20
ARRIVAL_PAUSE_S = 0.1
ARRIVALS_S = 25.0
ROUNDS_MAX = 3
ROUNDS_END_S = 420.0
"""No round begins that would pass this, if it takes as long as the one before."""
RATE_GOAL, LATENCY_GOAL = 1.5, 0.6
HELD = (CONNECTOR, "driver")


class Measured(NamedTuple):
    micro_batches: list[MicroBatch]
    cpu_us: float
    """CPU time of the engine's processes for one row, reading the checkpoint and starting the query included."""

    @property
    def rate(self) -> float:
        return rate(self.micro_batches)


class Benchmark:
    def __init__(self, folder: Path, brokers: list[Broker], kinds: Sequence[str], *, is_quick: bool) -> None:
        self._began_s = time.monotonic()
        self._folder = folder
        self._is_quick = is_quick
        self._rows = QUICK_MICRO_BATCH_ROWS if is_quick else MICRO_BATCH_ROWS
        self._topics = {broker.name: Topics(broker.bootstrap_servers) for broker in brokers}
        self._kinds = kinds
        self._engines: list[Engine] = []
        self._job_count = 0

    def parts(self, stack: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
        for topics in self._topics.values():
            stack.callback(topics.close)
        yield "cold process to the first commit, one Spark after the other", self._start(stack)
        self._fill()
        self._warm_up()
        for name in self._topics:
            yield f"{name}: micro-batches of {ARRIVAL_ROWS} rows, one at a time", self._small(name)
        yield from self._rates()

    def _start(self, stack: ExitStack) -> list[Figure]:
        """On the first broker: what is slow here is Spark."""
        name, topics = next(iter(self._topics.items()))
        topics.fill(topics.create("first"), numbered(0, ARRIVAL_ROWS, value_bytes=100))
        figures = []
        for kind in self._kinds:
            output = topics.create(f"first-{kind}")
            began = time.perf_counter()
            engine = stack.enter_context(Engine(kind))
            engine.follow(self._job(topics, "follow", "first", output))
            topics.await_visible(output, ARRIVAL_ROWS, engine.check_alive)
            figures.append(Figure(f"{name}, {kind}: start to first commit", time.perf_counter() - began, "s"))
            engine.stop()
            topics.verify(output, ARRIVAL_ROWS)
            self._engines.append(engine)
        return figures

    def _fill(self) -> None:
        for topics in self._topics.values():
            for value_bytes, rows in self._rows.items():
                topic = topics.create(f"input-{value_bytes}")
                for number in range(MICRO_BATCHES):
                    topics.fill(topic, numbered(number * rows, rows, value_bytes=value_bytes))

    def _warm_up(self) -> None:
        name = next(iter(self._topics))
        for engine in self._engines:
            self._copy(engine, name, max(self._rows) if self._is_quick else min(self._rows))

    def _small(self, name: str) -> list[Figure]:
        figures, medians = [], {}
        for engine in self._engines:
            seen_ms, micro_batches = self._arrivals(engine, self._topics[name])
            whole_ms, visible_ms = median_phases(micro_batches)[TOTAL], statistics.median(seen_ms)
            medians[engine.kind] = (whole_ms, visible_ms)
            what = f"{name}, {engine.kind}"
            figures.append(Figure(f"{what}: micro-batch p50", whole_ms, "ms", note=_note(micro_batches)))
            figures.append(Figure(f"{what}: sent to visible p50", visible_ms, "ms"))
        for rival, kind in pairs(medians):
            (whole_ms, visible_ms), (own_ms, own_visible_ms) = medians[rival], medians[kind]
            goal = LATENCY_GOAL if (rival, kind) == HELD else None
            figures.append(Figure(f"{name}, {kind} over {rival}: micro-batch", own_ms / whole_ms, "x", at_most=goal))
            figures.append(Figure(f"{name}, {kind} over {rival}: sent to visible", own_visible_ms / visible_ms, "x"))
        return figures

    def _arrivals(self, engine: Engine, topics: Topics) -> tuple[list[float], list[MicroBatch]]:
        """Milliseconds from sending rows until a reader sees all of them, and the micro-batches that did it."""
        arrived, output = topics.create(f"small-{engine.kind}"), topics.create(f"small-copy-{engine.kind}")
        engine.follow(self._job(topics, "follow", arrived, output))
        seen_ms: list[float] = []
        began = time.perf_counter()
        while len(seen_ms) < WARM_UP_ARRIVALS + (ARRIVALS_MIN if self._is_quick else ARRIVALS):
            if time.perf_counter() - began > ARRIVALS_S and len(seen_ms) >= WARM_UP_ARRIVALS + ARRIVALS_MIN:
                break
            end = topics.visible(output) + ARRIVAL_ROWS
            sent = time.perf_counter()
            topics.fill(arrived, numbered(len(seen_ms) * ARRIVAL_ROWS, ARRIVAL_ROWS, value_bytes=100))
            topics.await_visible(output, end, engine.check_alive)
            seen_ms.append((time.perf_counter() - sent) * 1000)
            time.sleep(ARRIVAL_PAUSE_S)
        micro_batches = with_rows(engine.stop())
        topics.verify(output, len(seen_ms) * ARRIVAL_ROWS)
        return seen_ms[WARM_UP_ARRIVALS:], micro_batches[WARM_UP_ARRIVALS:]

    def _rates(self) -> Iterator[tuple[str, list[Figure]]]:
        best: dict[tuple[str, int, str], Measured] = {}
        round_count = 0
        while round_count < ROUNDS_MAX:
            round_began_s = time.monotonic()
            for name, size, engine in product(self._topics, self._rows, self._engines[:: -1 if round_count % 2 else 1]):
                case = (name, size, engine.kind)
                found = self._copy(engine, name, size)
                best[case] = max(best.get(case, found), found, key=lambda measured: measured.rate)
            round_count += 1
            now_s = time.monotonic()
            if self._is_quick or now_s - self._began_s + now_s - round_began_s > ROUNDS_END_S:
                break
        for name, size in product(self._topics, self._rows):
            heading = f"{name}: rows of {size} B, {PARTITION_COUNT} partitions, best of {round_count} round(s)"
            yield heading, _rate_figures(f"{name}, {size} B", {kind: best[name, size, kind] for kind in self._kinds})

    def _copy(self, engine: Engine, name: str, size: int) -> Measured:
        """The micro-batches of one copy, without the first; CPU time of all."""
        row_count = self._rows[size] * MICRO_BATCHES
        topics = self._topics[name]
        output = topics.create(f"copy-{self._job_count}")
        job = self._job(topics, "drain", f"input-{size}", output, max_offsets=self._rows[size])
        cpu_before_s = engine.cpu_seconds()
        micro_batches = with_rows(engine.drain(job))
        cpu_s = engine.cpu_seconds() - cpu_before_s
        topics.verify(output, row_count)
        topics.delete(output)
        return Measured(micro_batches[1:], cpu_s / row_count * 1e6)

    def _job(self, topics: Topics, kind: str, source: str, output: str, *, max_offsets: int | None = None) -> Job:
        self._job_count += 1
        return {
            "kind": kind,
            "servers": topics.servers,
            "input": source,
            "output": output,
            "checkpoint": str(self._folder / f"checkpoint-{self._job_count}"),
            "name": f"copy-{self._job_count}",
            "max_offsets": max_offsets,
        }


def _rate_figures(case: str, found: dict[str, Measured]) -> list[Figure]:
    figures = []
    for kind, own in found.items():
        figures.append(Figure(f"{case}: {kind}", own.rate, "rows/s", note=_note(own.micro_batches)))
        figures.append(Figure(f"{case}: {kind}, CPU of Spark and Python", own.cpu_us, "us per row"))
    for rival, kind in pairs(found):
        goal = RATE_GOAL if (rival, kind) == HELD else None
        figures.append(Figure(f"{case}: {kind} over {rival}", found[kind].rate / found[rival].rate, "x", at_least=goal))
    return figures


def pairs(kinds: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every rival that was measured with every engine of ours."""
    rivals = [kind for kind in kinds if kind in CONNECTORS]
    return product(rivals, [kind for kind in kinds if kind not in CONNECTORS])


def _note(micro_batches: list[MicroBatch]) -> str:
    """Where the time of a micro-batch goes, in milliseconds."""
    phases = median_phases(micro_batches)
    return ", ".join(f"{name} {phase:.0f}" for name, phase in phases.items() if phase >= 1 and name != TOTAL)


def parts(arguments: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
    # Brokers and engines are children: a benchmark that is told to end takes them along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = stack.enter_context(scratch_folder(DEFAULT_FOLDER))
    brokers = list(started_brokers(arguments.broker, folder, stack))
    kinds = (arguments.engine,) if arguments.engine else ENGINES
    return Benchmark(folder, brokers, kinds, is_quick=arguments.quick).parts(stack)


ENGINE_OPTION = {"--engine": {"choices": ENGINES, "help": "only this one, and no ratios: to see where its time goes"}}

if __name__ == "__main__":
    sys.exit(run_benchmark(__doc__, parts, BROKER_OPTION | ENGINE_OPTION))
