"""What a run shows: per pipeline the rows in and out, transactions, lag in records, last commit, retries, restarts.

A value per pipeline, changed under one lock (by the sink's events, Spark's progress, the lag watch) and copied out as
plain data. Rows, bytes and transactions count since the run began; the ledger knows the rest. A reporter shows it: a
live display on a terminal, JSON lines for programs, plain lines otherwise.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from fencepost.client.exceptions import ClientError
from fencepost.pipelines.graph import Graph, partitions_of
from fencepost.spark.offsets import source_offsets
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from fencepost.client.admin.admin import Admin
    from fencepost.spark.sink.errors import SinkEvent


STARTING, RUNNING, WAITING, DONE, STOPPED, FAILED = "starting", "running", "waiting", "done", "stopped", "failed"


@dataclass(frozen=True, slots=True)
class StageProgress:
    pipeline: str
    state: str = STARTING
    batch_id: int | None = None
    counted_batch_id: int = -1
    """The newest micro-batch that `rows_in` has: Spark tells its rows a moment after the commit."""
    rows_in: int = 0
    rows_out: int = 0
    bytes_out: int = 0
    transactions: int = 0
    skipped: int = 0
    retries: int = 0
    restarts: int = 0
    lag: int | None = None
    last_commit_ms: int | None = None
    """When, in milliseconds since 1970."""
    commit_took_ms: float | None = None
    problem: str | None = None

    @property
    def is_counted(self) -> bool:
        """Whether rows in and out are of the same micro-batches, or nothing more will be reported."""
        return self.state != RUNNING or self.batch_id is None or self.counted_batch_id >= self.batch_id


@dataclass
class Progress:
    """The progress of all pipelines of a run."""

    stages: dict[str, StageProgress]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, names: list[str]) -> "Progress":
        return cls({name: StageProgress(name) for name in names})

    def update(self, name: str, **changes: Any) -> None:
        with self._lock:
            self.stages[name] = replace(self.stages[name], **changes)

    def add(self, name: str, **amounts: int) -> None:
        with self._lock:
            stage = self.stages[name]
            sums = {counter: getattr(stage, counter) + amount for counter, amount in amounts.items()}
            self.stages[name] = replace(stage, **sums)

    def committed(self, event: "SinkEvent") -> None:
        """A micro-batch is over: published and committed, or found in the ledger."""
        self.add(
            event.name,
            rows_out=0 if event.is_skipped else event.row_count,
            bytes_out=0 if event.is_skipped else event.size_bytes,
            transactions=0 if event.is_skipped else 1,
            skipped=1 if event.is_skipped else 0,
            retries=event.retry_count,
        )
        self.update(event.name, batch_id=event.batch_id, problem=None, state=RUNNING)
        if not event.is_skipped:
            self.update(event.name, last_commit_ms=now_ms(), commit_took_ms=round(event.commit_ms, 1))

    def snapshot(self) -> list[StageProgress]:
        with self._lock:
            return list(self.stages.values())


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def as_json(stage: StageProgress) -> dict[str, Any]:
    return {name: value for name, value in asdict(stage).items() if value is not None}


class Reporter(Protocol):
    """`event` is for something that happened, `progress` for the counters, `close` for the end."""

    def event(self, what: str, **details: Any) -> None: ...

    def progress(self, stages: Sequence[StageProgress]) -> None: ...

    def close(self) -> None: ...


class JsonLines:
    """One line per event, and one per pipeline whenever its counters have changed: `event`, `pipeline` where it
    concerns one, `time_ms`, and the counters of `StageProgress`.
    """

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stdout
        self._shown: dict[str, StageProgress] = {}

    def event(self, what: str, **details: Any) -> None:
        self._write({"event": what, "time_ms": now_ms(), **details})

    def progress(self, stages: Sequence[StageProgress]) -> None:
        for stage in stages:
            if self._shown.get(stage.pipeline) != stage:
                self._shown[stage.pipeline] = stage
                self._write({"event": "progress", "time_ms": now_ms(), **as_json(stage)})

    def close(self) -> None:
        self._stream.flush()

    def _write(self, row: dict[str, Any]) -> None:
        self._stream.write(json.dumps(row) + "\n")
        self._stream.flush()


class PlainLines:
    """For logs: events as sentences, and a line per pipeline when a micro-batch was committed."""

    def __init__(self, write: Callable[[str], None] | None = None) -> None:
        self._write = write or (lambda line: print(line, flush=True))  # noqa: T201 - this is where output goes
        self._transactions: dict[str, int] = {}

    def event(self, what: str, **details: Any) -> None:
        name = details.pop("pipeline", None)
        words = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in details.items())
        self._write(f"{what}{f' {name}' if name else ''}{f': {words}' if words else ''}")

    def progress(self, stages: Sequence[StageProgress]) -> None:
        for stage in stages:
            if stage.transactions > self._transactions.get(stage.pipeline, 0) and stage.is_counted:
                self._transactions[stage.pipeline] = stage.transactions
                lag = "unknown" if stage.lag is None else f"{stage.lag:,}"
                self._write(
                    f"committed {stage.pipeline}: micro-batch {stage.batch_id}, {stage.rows_in:,} rows in, "
                    f"{stage.rows_out:,} out, {stage.transactions:,} transactions, lag {lag}, {stage.retries} retries"
                )

    def close(self) -> None:
        return


STYLES = {RUNNING: "green", DONE: "green", STARTING: "yellow", WAITING: "yellow", FAILED: "bold red"}
EVENTS_SHOWN = 4


class LiveDisplay:
    """The graph of the stages, and under it a row per pipeline."""

    def __init__(self, graph: Graph, console: Console | None = None) -> None:
        self._graph = graph
        self._stages: Sequence[StageProgress] = ()
        self._events: list[str] = []
        self._live = Live(console=console or Console(), get_renderable=self.render, refresh_per_second=4)
        self._live.start()

    def event(self, what: str, **details: Any) -> None:
        words = ", ".join(f"{name} {value}" for name, value in details.items())
        moment = datetime.now(tz=UTC).strftime("%H:%M:%S")
        self._events = [*self._events, f"{moment} {what} {words}"][-EVENTS_SHOWN:]

    def progress(self, stages: Sequence[StageProgress]) -> None:
        self._stages = stages

    def close(self) -> None:
        self._live.stop()

    def render(self) -> RenderableType:
        drawing = Text("\n".join(self._graph.draw()), no_wrap=True)
        parts: list[RenderableType] = [Panel(drawing, title="stages", title_align="left"), table_of(self._stages)]
        parts += [Text(line, style="dim", overflow="fold") for line in self._events]
        return Group(*parts)


def table_of(stages: Sequence[StageProgress]) -> Table:
    table = Table(expand=True)
    for name in ("pipeline", "state", "rows in", "rows out", "transactions", "lag", "last commit", "retries"):
        table.add_column(name, justify="left" if name in ("pipeline", "state") else "right", no_wrap=True)
    for stage in stages:
        table.add_row(
            stage.pipeline,
            Text(stage.state, style=STYLES.get(stage.state, "")),
            f"{stage.rows_in:,}",
            f"{stage.rows_out:,}",
            f"{stage.transactions:,}",
            "?" if stage.lag is None else f"{stage.lag:,}",
            ago(stage.last_commit_ms, now_ms()),
            str(stage.retries) if not stage.restarts else f"{stage.retries} (+{stage.restarts} restarts)",
        )
        if stage.problem:
            table.add_row("", Text(stage.problem, style="red", overflow="fold"))
    return table


def ago(then_ms: int | None, now: int) -> str:
    if then_ms is None:
        return "never"
    seconds = max(0, now - then_ms) / 1000
    return f"{seconds:.1f} s ago" if seconds < 60 else f"{seconds / 60:.0f} min ago"


def positions_in(progress: Any) -> dict[TopicPartition, int]:
    """The end offsets of Spark's last progress report, of all sources that are topics."""
    found: dict[TopicPartition, int] = {}
    for source in (progress or {}).get("sources", []):
        text = source.get("endOffset")
        offsets = source_offsets(text) if isinstance(text, str) else None
        if offsets is not None:
            found.update(offsets.positions)
    return found


class LagWatch:
    """How far behind a pipeline is, in records: up to where others may read, minus how far its committed transactions
    have come.

    Taken from the group's offsets, which are committed in the same transactions as the output; on another cluster than
    the source's there are none, and Spark's progress tells. Markers take offsets too, so a lag of zero means zero, and
    a larger one may include them.
    """

    def __init__(self, admin: "Admin", *, read_committed: bool = True) -> None:
        self._admin = admin
        self._read_committed = read_committed
        self._lock = threading.Lock()

    def lag(self, topics: tuple[str, ...], *, group_id: str, progress: Any = None) -> int | None:
        """None while the cluster does not answer."""
        with self._lock:
            try:
                partitions = partitions_of(self._admin, topics)
                ends = self._admin.latest_offsets(partitions, read_committed=self._read_committed)
                committed = self._admin.group_offsets(group_id)
                begun = {one: committed[one].offset for one in partitions if one in committed}
                begun = begun or positions_in(progress)
                beginnings = self._admin.earliest_offsets([one for one in partitions if one not in begun])
            except ClientError:
                return None
        positions = {**beginnings, **begun}
        return sum(max(0, end - positions[partition]) for partition, end in ends.items())
