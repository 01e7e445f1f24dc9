"""An engine in a process of its own, and what its micro-batches took."""

import contextlib
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from pipeline_parts.engine_program import ANSWER, CONNECTORS, STOCK_CONNECTOR, Job

JARS = Path(__file__).resolve().parents[2] / ".peers" / "spark-connector-4.2.0"
PROGRAM = Path(__file__).with_name("engine_program.py")
ANSWER_TIMEOUT_S = 240.0
STOP_TIMEOUT_S = 30.0
TOTAL = "triggerExecution"
EQUAL_SETTINGS = {"spark.sql.streaming.numRecentProgressUpdates": "1000"}
_CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"
STOCK_CHECKPOINT_FILES = {
    "spark.sql.streaming.checkpointFileManagerClass": f"{_CHECKPOINTING}.FileContextBasedCheckpointFileManager",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
}


@dataclass(frozen=True)
class MicroBatch:
    began_s: float
    rows: int
    phases_ms: dict[str, float]

    @property
    def ended_s(self) -> float:
        return self.began_s + self.phases_ms[TOTAL] / 1000


class Engine:
    """Every engine has the session of `fencepost run`, and so the same checkpoint files, heap and collector; the
    connector needs its jars besides. The stock connector writes the checkpoint as Spark does by itself."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        jars = ",".join(str(path) for path in sorted(JARS.glob("*.jar")))
        settings = EQUAL_SETTINGS | ({"spark.jars": jars} if kind in CONNECTORS else {})
        if kind == STOCK_CONNECTOR:
            settings |= STOCK_CHECKPOINT_FILES
        command = [sys.executable, str(PROGRAM), kind, json.dumps(settings)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def drain(self, job: Job) -> list[MicroBatch]:
        self.tell(json.dumps(job))
        return self.answer()

    def follow(self, job: Job) -> None:
        self.tell(json.dumps(job))

    def stop(self) -> list[MicroBatch]:
        self.tell("stop")
        return self.answer()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> list[MicroBatch]:
        watchdog = threading.Timer(ANSWER_TIMEOUT_S, self._process.kill)
        watchdog.start()
        try:
            assert self._process.stdout is not None
            for line in self._process.stdout:
                if line.startswith(ANSWER):
                    return [_parsed(found) for found in json.loads(line.removeprefix(ANSWER))]
        finally:
            watchdog.cancel()
        raise RuntimeError(f"engine {self.kind} ended, or gave no answer within {ANSWER_TIMEOUT_S:g} s")

    def cpu_seconds(self) -> float:
        """Of the driver, the JVM and the Python workers, so far."""
        root = psutil.Process(self._process.pid)
        total = 0.0
        for process in [root, *root.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    def check_alive(self) -> None:
        if self._process.poll() is not None:
            raise RuntimeError(f"engine {self.kind} ended with exit code {self._process.returncode}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def with_rows(micro_batches: Sequence[MicroBatch]) -> list[MicroBatch]:
    return [found for found in micro_batches if found.rows]


def rate(micro_batches: Sequence[MicroBatch]) -> float:
    """Rows per second, from the beginning of the first to the end of the last."""
    return sum(found.rows for found in micro_batches) / (micro_batches[-1].ended_s - micro_batches[0].began_s)


def median_phases(micro_batches: Sequence[MicroBatch]) -> dict[str, float]:
    names = micro_batches[0].phases_ms
    return {name: statistics.median(found.phases_ms.get(name, 0.0) for found in micro_batches) for name in names}


def _parsed(found: dict[str, Any]) -> MicroBatch:
    return MicroBatch(datetime.fromisoformat(found["timestamp"]).timestamp(), found["rows"], found["phases"])
