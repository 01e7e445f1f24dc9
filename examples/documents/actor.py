"""A program as a process of its own, so that it can be killed with SIGKILL; what it says goes to a file."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from examples.documents.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]


class Actor:
    def __init__(self, module: str, folder: Path, *, name: str, arguments: dict[str, Any]) -> None:
        self.name = name
        self._log = folder / f"{name}.log"
        command = [sys.executable, "-m", module]
        for option, value in arguments.items():
            command += [f"--{option.replace('_', '-')}"] if value is True else []
            command += [f"--{option.replace('_', '-')}", str(value)] if value not in (True, None) else []
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)

    @property
    def said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait_until_said(self, text: str) -> None:
        def probe() -> bool:
            if self.has_ended and text not in self.said:
                raise RuntimeError(f"{self.name} has ended and never said '{text}':\n{self.said[-3000:]}")
            return text in self.said

        wait_for(f"'{text}' from {self.name}", probe, lambda: self.said[-3000:])

    def wait_until_killed(self) -> None:
        """By itself, at the step that its command line names."""
        wait_for(f"{self.name} dies", lambda: self.has_ended, lambda: self.said[-3000:])
        if self._process.returncode != -signal.SIGKILL:
            raise RuntimeError(
                f"{self.name} ended with {self._process.returncode}, not by SIGKILL:\n{self.said[-3000:]}"
            )

    def wait_until_ended(self) -> None:
        wait_for(f"{self.name} ends", lambda: self.has_ended, lambda: self.said[-3000:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        if not self.has_ended:
            self._process.terminate()

    def stop(self) -> None:
        """SIGTERM, and the end of the process; SIGKILL for one that does not listen."""
        self.ask_to_stop()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
