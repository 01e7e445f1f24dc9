"""A real broker process that is killed with SIGKILL at random moments and started again on the same folder and port.

The next process is started ahead: it imports all that it needs and waits until the folder is free.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.lab.apache_kafka import free_ports

WAIT_AND_SERVE = "import fencepost.cli.serve; from fencepost.cli.main import main; input(); main()"


def kill(process: "subprocess.Popen[str]") -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


class KilledBroker:
    def __init__(self, folder: Path, *, seed: int, settings: dict[str, str]) -> None:
        self.port = free_ports(1)[0]
        self.kill_count = 0
        self._folder = folder
        self._log = folder.parent / "serve.log"
        self._settings = settings
        self._random = random.Random(seed)
        self._process: subprocess.Popen[str] | None = None
        self._spare: subprocess.Popen[str] | None = self._start_ahead()

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        if self._spare is not None:
            kill(self._spare)

    def start(self) -> None:
        self._process, self._spare = self._spare, None
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line.startswith("listening on"), f"the broker did not start: {self._log.read_text()[-2000:]}"
        self._spare = self._start_ahead()

    def _start_ahead(self) -> "subprocess.Popen[str]":
        arguments = ["serve", "--log-level", "warning", "--listen", self.bootstrap_servers, "--data", str(self._folder)]
        for name, value in self._settings.items():
            arguments += ["--set", f"{name}={value}"]
        command = [sys.executable, "-c", WAIT_AND_SERVE, *arguments]
        with self._log.open("a") as log:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def kill(self) -> None:
        """The broker, not the spare process, which holds nothing yet."""
        if self._process is not None:
            kill(self._process)
            self._process = None

    def kill_and_restart(self, times: int) -> None:
        """Between two kills the broker serves for a random while, long enough for clients to get something done."""
        for _ in range(times):
            time.sleep(self._random.uniform(0.05, 0.8))
            self.kill()
            self.kill_count += 1
            self.start()
