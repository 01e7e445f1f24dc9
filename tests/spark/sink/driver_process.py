"""Starts the driver program with fail-points armed, waits for its end, and audits what it has written."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.client.time_limits import Closing
from fencepost.spark.sink.fail_points import FAIL_AT, FAIL_LOG
from tests.spark.sink.streams import rows_of

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 400


@dataclass
class Ended:
    return_code: int
    output: str
    reached: list[str]

    @property
    def events(self) -> list[dict[str, Any]]:
        (line,) = [line for line in self.output.splitlines() if line.startswith("EVENTS ")]
        found: list[dict[str, Any]] = json.loads(line.removeprefix("EVENTS "))
        return found


class DriverProcess(Closing):
    """One checkpoint, started as often as it takes. While one of `starts` drivers works, the next is started ahead: it
    has its JVM and its session when its turn comes.
    """

    def __init__(self, folder: Path, servers: str, *, starts: int = 1, **options: Any) -> None:
        assert starts == 1 or not {"master", "spark"} & set(options), "a spare has the session of every test"
        self._folder = folder
        self._starts = starts
        self._spare: subprocess.Popen[str] | None = None
        self._options = {"servers": servers, "checkpoint": str(folder / "checkpoint"), **options}
        self._start_count = 0
        self.log = self._output = folder
        self._processes: list[subprocess.Popen[str]] = []

    def start(self, fail_at: str = "", **options: Any) -> "subprocess.Popen[str]":
        self._start_count += 1
        self.log = self._folder / f"reached-{self._start_count}"
        self._output = self._folder / f"output-{self._start_count}"
        armed = {FAIL_AT: fail_at, FAIL_LOG: str(self.log)}
        process, self._spare = self._spare, None
        if process is None:
            process = self._launch(json.dumps(self._options | options), environment=armed)
        else:
            job = {"options": self._options | options, "environment": armed, "output": str(self._output)}
            assert process.stdin is not None
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.close()
        if self._start_count < self._starts:
            self._spare = self._launch(environment={})
        return process

    def _launch(self, *arguments: str, environment: dict[str, str]) -> "subprocess.Popen[str]":
        with (self._output if arguments else self._folder / "spare").open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.spark.sink.driver_program", *arguments],
                cwd=ROOT,
                env=os.environ | environment | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._processes.append(process)
        return process

    def close(self) -> None:
        """No driver outlives its test."""
        for process in self._processes:
            process.kill()
            process.communicate()

    def wait(self, process: "subprocess.Popen[str]") -> Ended:
        """Until the driver itself has ended; its JVM may live on for a moment, as in life."""
        process.wait(TIMEOUT_S)
        output = self._output.read_text()
        reached = [line.split()[0] for line in self.log.read_text().splitlines()] if self.log.exists() else []
        return Ended(process.returncode, output, reached)

    def run(self, fail_at: str = "", **options: Any) -> Ended:
        return self.wait(self.start(fail_at, **options))


def check_no_repetition(servers: str, expected: set[bytes]) -> int:
    """What is visible is right, if not all: no value twice, both topics alike. Returns how much there is."""
    out, copies = rows_of(servers, "out"), rows_of(servers, "copies")
    assert out == copies, "a transaction shows on both topics or on none, with the same random ids"
    values = Counter(value.split(b"|")[0] for _, value in out.elements())
    assert not [value for value, count in values.items() if count > 1], "no value is there twice"
    assert set(values) <= expected
    return values.total()
