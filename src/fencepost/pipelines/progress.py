"""What a run shows: per pipeline the rows in and out, transactions, lag in records, last commit, retries, restarts.

A value per pipeline, changed under one lock by whoever learns something (the sink's events, Spark's progress, the lag
watch) and copied out as plain data. Rows, bytes and transactions count since the run began; the ledger knows the
rest.
"""

import threading
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost.spark.sink_event import SinkEvent

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
        """Whether rows in and out are of the same micro-batches, or nothing more will be told."""
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
