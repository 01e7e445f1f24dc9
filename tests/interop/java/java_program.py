"""Java programs for tests: compiled once for each client version, run to their end or talked to line by line."""

import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.lab.apache_kafka import SHORT_LIVED

PROGRAMS = Path(__file__).parent / "programs"
PATIENCE_S = 60.0
QUIET = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=error", *SHORT_LIVED, "-Xmx256m"]


class JavaClient:
    """The programs of this folder, compiled against the jars of one version of the client."""

    def __init__(self, jars: Path, classes: Path) -> None:
        self.version = jars.name.rsplit("-", 1)[1]
        self._classpath = f"{classes}{os.pathsep}{jars}/*"
        sources = sorted(map(str, PROGRAMS.glob("*.java")))
        subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", f"{jars}/*", *sources], check=True, timeout=120)

    def command(self, program: str, *arguments: str) -> list[str]:
        return ["java", *QUIET, "-cp", self._classpath, program, *arguments]

    def run(self, program: str, *arguments: str, typed: str = "") -> list[str]:
        """The lines that the program said; it must end well."""
        done = subprocess.run(
            self.command(program, *arguments), input=typed, capture_output=True, text=True, timeout=PATIENCE_S * 2
        )
        assert done.returncode == 0, f"{program} with client {self.version}:\n{done.stdout}\n{done.stderr}"
        return done.stdout.splitlines()

    def start(self, program: str, *arguments: str) -> "RunningProgram":
        return RunningProgram(self.command(program, *arguments))


class RunningProgram:
    """A program that goes on while the test talks to it. It is killed when the test leaves it."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def wait_for(self, is_it: Callable[[str], bool], what: str) -> str:
        """The first line from here on that is the one."""
        deadline = time.monotonic() + PATIENCE_S
        while (line := self._next(deadline, what)) is not None:
            if is_it(line):
                return line
        raise AssertionError(f"the program ended before {what}:\n" + "\n".join(self.said[-30:]))

    def gather(self) -> list[str]:
        """Everything said up to now."""
        while not self._lines.empty():
            line = self._lines.get()
            if line is not None:
                self.said.append(line)
        return self.said

    def kill(self) -> None:
        """SIGKILL: nothing is closed, nobody is told."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self.gather()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def _next(self, deadline: float, what: str) -> str | None:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"no {what} within {PATIENCE_S:.0f} s:\n" + "\n".join(self.said[-30:])) from None
        if line is not None:
            self.said.append(line)
        return line

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)
