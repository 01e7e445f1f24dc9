"""A client in a process of its own, so that it can be killed, and the lines that it reports by.

The process appends its events to a file, one write each: what it had seen when it was killed is still there. Times are
of the system-wide monotonic clock, so that events of several processes can be put in order.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.interop.support import DEADLINE_S, wait_for

ROOT = Path(__file__).parents[2]


class Event(NamedTuple):
    time_ns: int
    kind: str
    data: Any


class Reporter:
    """The inside: what a program says, and whether it was asked to stop."""

    def __init__(self) -> None:
        self.arguments: dict[str, Any] = json.loads(sys.argv[1])
        self.stopping = False
        signal.signal(signal.SIGTERM, self._stop)

    def say(self, kind: str, data: Any = None) -> None:
        os.write(1, json.dumps([time.monotonic_ns(), kind, data]).encode() + b"\n")

    def _stop(self, *_: object) -> None:
        self.stopping = True


class MemberProcess:
    """The outside: start, listen, ask to leave, kill."""

    def __init__(self, module: str, folder: Path, name: str, arguments: dict[str, Any]) -> None:
        self._name = name
        self._file = folder / f"{name}.events"
        self._errors = folder / f"{name}.errors"
        with self._file.open("wb") as output, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", module, json.dumps(arguments)],
                stdout=output,
                stderr=errors,
                cwd=ROOT,
            )

    def events(self, kind: str) -> list[Event]:
        lines = self._file.read_bytes().split(b"\n")[:-1]
        return [event for line in lines if (event := Event(*json.loads(line))).kind == kind]

    def last(self, kind: str) -> Any:
        """The data of the newest event of a kind, or nothing."""
        events = self.events(kind)
        return events[-1].data if events else None

    def wait_for(self, kind: str) -> Any:
        def probe() -> list[Event]:
            if self._process.poll() is not None:
                raise AssertionError(f"{self._name} ended: {self._errors.read_text()}")
            return self.events(kind)

        return wait_for(f"{kind} of {self._name}", probe)[-1].data

    def leave(self) -> None:
        """Ask it to close its clients properly, and see it end well."""
        self._process.terminate()
        code = self._process.wait(DEADLINE_S)
        assert code == 0, f"{self._name} ended with {code}: {self._errors.read_text()}"

    def crash(self) -> None:
        """The sockets close, nobody says goodbye."""
        self._process.kill()
        self._process.wait(DEADLINE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.crash()
