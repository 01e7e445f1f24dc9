"""Processes of the demonstration: each the leader of its own group, so that a kill takes all of it at once.

Their output goes to files of the demonstration's folder, where one looks when something did not start.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.errors import FencepostError, InvariantBroken
from fencepost.lab.demo.timeline import Lane, Span, SpanKind

POLL_S = 0.05
STOP_PATIENCE_S = 20.0
LAST_LINES = 15


class DemoProcessError(FencepostError):
    """A process of the demonstration ended by itself, or did not do in time what it should."""


class DemoProcess:
    """One run of a command, with its output in a file."""

    def __init__(
        self, name: str, arguments: Sequence[str], *, log_file: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self._log_file = log_file
        with log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """kill -9, of everything that belongs to it."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """SIGTERM, and kill -9 if that is not obeyed."""
        if self.is_running:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_PATIENCE_S)
        self.kill()

    def check_running(self) -> None:
        if not self.is_running:
            raise DemoProcessError(
                f"the {self.name} ended by itself with exit code {self._process.returncode}; "
                f"its last words:\n{self.last_words()}"
            )

    def wait_for_line(self, text: str, *, timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        while text not in self._words():
            self.check_running()
            if time.monotonic() > deadline_s:
                raise DemoProcessError(
                    f"the {self.name} did not say '{text}' within {timeout_s:.0f} s; "
                    f"its last words:\n{self.last_words()}"
                )
            time.sleep(POLL_S)

    def last_words(self) -> str:
        return "\n".join(f"  {line}" for line in self._words().splitlines()[-LAST_LINES:])

    def _words(self) -> str:
        """What this run has said; the file also has what earlier ones said."""
        return self._log_file.read_bytes()[self._log_start :].decode(errors="replace")

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return


# Who appears in the demonstration: the broker and two drivers, each with its lane; started, killed, started again.


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
