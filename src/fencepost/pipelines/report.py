"""How a run tells what happens: a live display on a terminal, JSON lines for programs, plain lines otherwise.

Every reporter has the same three calls: `event` for something that happened, `progress` for the counters, `close` at
the end. JSON lines have `event`, `pipeline` where it concerns one, `time_ms`, and the counters of `StageProgress`.
"""

import json
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any, Protocol

from fencepost.pipelines.progress import StageProgress, as_json, now_ms


class Reporter(Protocol):
    def event(self, what: str, **details: Any) -> None: ...

    def progress(self, stages: Sequence[StageProgress]) -> None: ...

    def close(self) -> None: ...


class JsonLines:
    """One line per event, and one per pipeline whenever its counters have changed."""

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
