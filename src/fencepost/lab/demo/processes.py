"""Processes of the demonstration: the broker and two drivers, each with its lane; started, killed, started again.

Each is the leader of its own group, so that a kill takes all of it at once. Their output goes to files of the
demonstration's folder, where one looks when something did not start.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from fencepost.errors import FencepostError
from fencepost.lab.demo.timeline import Lane, Span, SpanKind

POLL_S = 0.05
STOP_PATIENCE_S = 20.0
LAST_LINES = 15


class DemoProcessError(FencepostError):
    """A process of the demonstration ended by itself, or did not do in time what it should."""


class Clock:
    """Seconds since the demonstration began."""

    def __init__(self) -> None:
        self.started_s = time.monotonic()
        self.started_ms = time.time() * 1000

    @property
    def now_s(self) -> float:
        return time.monotonic() - self.started_s


class Actor:
    """One process at a time, of one command; leaving the block ends what runs."""

    def __init__(self, name: str, command: Sequence[str], *, log_file: Path, clock: Clock) -> None:
        self.name = name
        self.lane = Lane(name)
        self._command = [sys.executable, "-m", *command]
        self._log_file = log_file
        self._clock = clock
        self._process: subprocess.Popen[bytes] | None = None
        self._began_s = 0.0
        self._log_start = 0

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._began_s = self._clock.now_s
        with self._log_file.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [*self._command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )

    def check(self) -> None:
        """None ends by itself: one that does is an error, with the last lines of its output."""
        if self._process is not None and self._process.poll() is not None:
            raise DemoProcessError(
                f"the {self.name} ended by itself with exit code {self._process.returncode}; "
                f"its last lines:\n{self._last_lines()}"
            )

    def wait_for_line(self, text: str, *, timeout_s: float) -> None:
        deadline_s = time.monotonic() + timeout_s
        while text not in self._output():
            self.check()
            if time.monotonic() > deadline_s:
                raise DemoProcessError(
                    f"the {self.name} did not say '{text}' within {timeout_s:.0f} s; "
                    f"its last lines:\n{self._last_lines()}"
                )
            time.sleep(POLL_S)

    def kill(self) -> None:
        """kill -9, of everything that belongs to it."""
        self.lane.kills_s.append(self._clock.now_s)
        self._end()

    def stop(self) -> None:
        """SIGTERM, and kill -9 if that is not obeyed."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_PATIENCE_S)
        self._end()

    def _end(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None
        self.lane.spans.append(Span(self._began_s, self._clock.now_s, SpanKind.UP, self.name))

    def _output(self) -> str:
        """Of this run; the file also has what earlier ones wrote."""
        return self._log_file.read_bytes()[self._log_start :].decode(errors="replace")

    def _last_lines(self) -> str:
        return "\n".join(f"  {line}" for line in self._output().splitlines()[-LAST_LINES:])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
