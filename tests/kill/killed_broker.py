"""A real broker process that is killed with SIGKILL at random moments and started again on the same folder and port."""

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

START_TIMEOUT_S = 60.0


class KilledBroker:
    def __init__(self, folder: Path, *, seed: int, settings: dict[str, str]) -> None:
        self.port = free_ports(1)[0]
        self.kill_count = 0
        self._folder = folder
        self._log = folder.parent / "serve.log"
        self._settings = settings
        self._random = random.Random(seed)
        self._process: subprocess.Popen[str] | None = None

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

    def start(self) -> None:
        command = [sys.executable, "-m", "fencepost", "serve", "--log-level", "warning"]
        command += ["--listen", self.bootstrap_servers, "--data", str(self._folder)]
        for name, value in self._settings.items():
            command += ["--set", f"{name}={value}"]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("listening on"), f"the broker did not start: {self._log.read_text()[-2000:]}"

    def kill(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None

    def kill_and_restart(self, times: int) -> None:
        """Between two kills the broker serves for a random while, long enough for clients to get something done."""
        for _ in range(times):
            time.sleep(self._random.uniform(0.05, 0.8))
            self.kill()
            self.kill_count += 1
            self.start()
