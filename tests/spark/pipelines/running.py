"""`fencepost run` as a process: its JSON lines as they come, the processes below it, and how to end it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import psutil

from fencepost.client.time_limits import Closing
from fencepost.lab.apache_kafka import SHORT_LIVED
from tests.peers import ROOT
from tests.spark.pipelines.use import EXAMPLES

QUICK_TO_START = " ".join(SHORT_LIVED)
WAIT_S = 1200.0
"""Starts of Spark take seconds, and on a busy machine minutes."""


class Spare(Closing):
    """A process with a session, for the next run that takes it; started ahead while the one before it works."""

    def __init__(self, folder: Path) -> None:
        with (folder / "run.log").open("a") as log:
            self.process: subprocess.Popen[str] | None = subprocess.Popen(
                [sys.executable, "-m", "tests.spark.pipelines.spare_run"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def take(self, arguments: list[str]) -> "subprocess.Popen[str]":
        process, self.process = self.process, None
        assert process is not None
        assert process.stdin is not None
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.close()
        return process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


class Run:
    def __init__(self, target: str, servers: str, folder: Path, *options: str, spare: Spare | None = None) -> None:
        arguments = ["run", str(EXAMPLES / target), "--json"]
        arguments += ["--set", f"spark.driver.extraJavaOptions={QUICK_TO_START}"]
        arguments += ["--bootstrap-servers", servers, "--checkpoint", str(folder / "checkpoint"), *options]
        self._log = folder / "run.log"
        if spare is not None:
            self.process = spare.take(arguments)
        else:
            command = [sys.executable, "-m", "fencepost", *arguments]
            with self._log.open("a") as log:
                self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.events: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.events.append(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def wait_for(self, what: str, is_met: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first event that meets it, past or to come."""
        deadline_s = time.monotonic() + WAIT_S
        seen = 0
        with self._changed:
            while True:
                for event in self.events[seen:]:
                    if is_met(event):
                        return event
                seen = len(self.events)
                is_over = not self._reader.is_alive()
                assert not is_over, f"the run ended before {what}: {self.story()}"
                assert time.monotonic() < deadline_s, f"not within {WAIT_S:.0f} s: {what}: {self.story()}"
                self._changed.wait(1.0)

    def wait_for_progress(self, **at_least: int) -> None:
        self.wait_for(
            f"progress {at_least}",
            lambda event: all(event.get(name, -1) >= count for name, count in at_least.items()),
        )

    def wait_for_end(self) -> int:
        code = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        return code

    def newest(self, pipeline: str) -> dict[str, Any]:
        return [event for event in self.events if event["event"] == "progress" and event["pipeline"] == pipeline][-1]

    def family(self) -> list[psutil.Process]:
        """The run and every process below it."""
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        os.kill(self.process.pid, signal.SIGTERM)
        return self.wait_for_end()

    def story(self) -> str:
        return f"{self.events[-5:]} {self._log.read_text()[-3000:]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self._reader.join(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


def assert_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=60)
    left = [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    assert not left, f"left behind: {[process.cmdline() for process in left]}"


def until(is_met: Callable[[], bool], timeout_s: float) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not is_met():
        assert time.monotonic() < deadline_s, f"not within {timeout_s:.0f} s"
        time.sleep(0.2)
