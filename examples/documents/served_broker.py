"""A broker as a process of its own, which can be killed with SIGKILL and comes back to its folder and port."""

import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from examples.documents.stage import BROKER_SETTINGS


class ServedBroker:
    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="documents-broker-")
        self._folder = Path(self._temporary.name)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port: int = listener.getsockname()[1]
        self._process: subprocess.Popen[str] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start(self) -> Self:
        command = [sys.executable, "-m", "fencepost", "serve", "--listen", self.bootstrap_servers]
        command += ["--data", str(self._folder / "data"), "--log-level", "warning"]
        for name, value in BROKER_SETTINGS.items():
            command += ["--set", f"{name}={value}"]
        log = self._folder / "serve.log"
        with log.open("a") as errors:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        if self._process.stdout is None or not self._process.stdout.readline().startswith("listening on"):
            raise RuntimeError(f"the broker did not start: {log.read_text()[-2000:]}")
        return self

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        self._temporary.cleanup()
