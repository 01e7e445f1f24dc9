"""Processes of the demonstration: each the leader of its own group, so that a kill takes all of it at once.

Their output goes to files of the demonstration's folder, where one looks when something did not start.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.errors import FencepostError

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
