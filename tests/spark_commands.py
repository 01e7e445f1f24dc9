"""`fencepost run` and `fencepost audit`, one command after the other in one process with one JVM: a start of Spark
costs more than what most of these commands do.

The process takes a command as a line of JSON, runs it as if it had been started for it (folder, environment, output,
signals) and answers with its exit code. The session that the first command starts is what the next one finds.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ("run", "audit")
COLD = ("--master", "--graph", "|", "&", ";", ">")
"""What needs a session or a shell of its own, or no Spark at all."""


def is_for_spark(line: str) -> bool:
    """Whether a command line can be run here."""
    program, command, *rest = [*shlex.split(line), "", ""]
    return Path(program).name == "fencepost" and command in COMMANDS and not any(word in rest for word in COLD)


class SparkCommands:
    """The process, seen from the tests. One command at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def start(self, line: str, folder: Path, environment: Mapping[str, str], *, out: Path, err: Path) -> "Command":
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        job = {
            "arguments": shlex.split(line)[1:],
            "folder": str(folder),
            "environment": dict(environment),
            "out": str(out),
            "err": str(err),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Command(self._process)

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()


class Command:
    """One that runs, as much of a `Popen` as tests ask for."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.returncode: int | None = None
        assert process.stdout is not None
        self._answers = process.stdout
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        answer = self._answers.readline()
        self.returncode = int(answer) if answer else self._process.wait()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float) -> int:
        self._reader.join(timeout)
        if self.returncode is None:
            self._process.kill()
            raise subprocess.TimeoutExpired("fencepost", timeout)
        return self.returncode

    def terminate(self) -> None:
        if self.returncode is None:
            os.kill(self._process.pid, signal.SIGTERM)


def serve() -> None:
    answers = os.dup(1)
    keep_sessions()
    for line in sys.stdin:
        job = json.loads(line)
        os.chdir(job["folder"])
        os.environ.clear()
        os.environ.update(job["environment"])
        for number, name in ((1, "out"), (2, "err")):
            file = os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(file, number)
            os.close(file)
        code = run(job["arguments"])
        # Until the next one has its own handler, nothing is here that a signal could be meant for.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(answers, b"%d\n" % code)


def run(arguments: list[str]) -> int:
    from fencepost.cli.main import main

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        main(arguments, prog_name="fencepost")
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - as Python ends a program
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def keep_sessions() -> None:
    """A command that ends leaves its session, unless the JVM is gone."""
    from fencepost.cli import audit
    from fencepost.pipelines import jvm, runner

    end_session = jvm.end_session

    def keep(spark: Any, **options: float) -> int | None:
        return None if jvm.is_jvm_alive() else end_session(spark, **options)

    for module in (audit, runner):
        module.end_session = keep


if __name__ == "__main__":
    serve()
