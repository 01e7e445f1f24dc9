"""Who appears in the demonstration: the broker and two drivers, each with its lane; started, killed, started again."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.errors import InvariantBroken
from fencepost.lab.demo.processes import DemoProcess
from fencepost.lab.demo.timeline import Lane, Span, SpanKind


class Clock:
    """Seconds since the demonstration began."""

    def __init__(self) -> None:
        self.started_s = time.monotonic()
        self.started_ms = time.time() * 1000

    @property
    def now_s(self) -> float:
        return time.monotonic() - self.started_s


class Actor:
    """One process at a time, of one command; leaving the block ends whatever runs."""

    def __init__(self, name: str, command: Sequence[str], *, log_file: Path, clock: Clock) -> None:
        self.name = name
        self.lane = Lane(name)
        self._command = [sys.executable, "-m", *command]
        self._log_file = log_file
        self._clock = clock
        self._process: DemoProcess | None = None
        self._began_s = 0.0

    @property
    def process(self) -> DemoProcess:
        if self._process is None:
            raise InvariantBroken(f"the {self.name} is running")
        return self._process

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._began_s = self._clock.now_s
        self._process = DemoProcess(
            self.name, [*self._command, *arguments], log_file=self._log_file, environment=environment
        )

    def check(self) -> None:
        """Nobody ends by himself: whoever does is an error, with his last words."""
        if self._process is not None:
            self._process.check_running()

    def kill(self) -> None:
        """kill -9."""
        self.lane.kills_s.append(self._clock.now_s)
        self._end(self.process.kill)

    def stop(self) -> None:
        if self._process is not None:
            self._end(self._process.stop)

    def _end(self, how: Callable[[], None]) -> None:
        how()
        self.lane.spans.append(Span(self._began_s, self._clock.now_s, SpanKind.UP, self.name))
        self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
