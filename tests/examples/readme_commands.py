"""Command lines as a page gives them: found in it, and run as they stand in a folder that looks like a checkout.

Only two things are put in place of what stands there, because tests share a machine: a broker's address for the
well-known one, and the interpreter of the tests behind `.venv`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.spark_commands import Command, SparkCommands, is_for_spark

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PROGRAMS = (".venv/bin/python", ".venv/bin/fencepost", "python", "fencepost")
WELL_KNOWN = re.compile(r"\b(127\.0\.0\.1|localhost):9092\b")
PATIENCE_S = 1500.0


def commands_in(page: Path) -> list[str]:
    """The lines of its blocks of code that start one of our programs, without comments."""
    found = []
    language: str | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
            continue
        is_code = language in ("", "bash") or (language is None and line.startswith("    "))
        command = re.sub(r"\s+#.*$", "", line).strip()
        if is_code and command.split(" ")[0] in PROGRAMS:
            found.append(command)
    return found


class Checkout:
    """A folder from which everything can be started that can be started from the root of a checkout, and in which what
    it leaves behind does not matter.
    """

    def __init__(self, folder: Path, servers: str = "127.0.0.1:1", spark: SparkCommands | None = None) -> None:
        """Commands that run Spark share a process, if one is given."""
        self.folder = folder
        self.servers = servers
        self._spark = spark
        (folder / "examples").symlink_to(EXAMPLES)
        (folder / ".venv").symlink_to(sys.prefix)

    def run(self, line: str, *, exit_code: int = 0) -> str:
        """What it prints; it ends well, or as expected."""
        done_code, out, err = self._run(self._placed(line))
        is_crash = exit_code != 0 and "Traceback (most recent call last)" in err
        is_as_expected = done_code == exit_code and not is_crash
        assert is_as_expected, f"{line}\n{out[-2000:]}\n{err[-4000:]}"
        return out

    def _run(self, line: str) -> tuple[int, str, str]:
        if self._spark is not None and is_for_spark(line):
            with tempfile.TemporaryDirectory() as printed:
                out, err = Path(printed, "out"), Path(printed, "err")
                command = self._spark.start(line, self.folder, self._environment(), out=out, err=err)
                return command.wait(PATIENCE_S), out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    @contextmanager
    def running(self, line: str) -> Iterator["subprocess.Popen[str] | Command"]:
        """While it runs; then it gets SIGTERM, and ends well."""
        log = self.folder / "running.log"
        if self._spark is not None and is_for_spark(line):
            command = self._spark.start(self._placed(line), self.folder, self._environment(), out=log, err=log)
            try:
                yield command
            finally:
                command.terminate()
                code = command.wait(PATIENCE_S)
            assert code == 0, f"{line}\n{log.read_text(encoding='utf-8')[-4000:]}"
            return
        with log.open("a", encoding="utf-8") as errors:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {self._placed(line.removesuffix('&').strip())}"],
                cwd=self.folder,
                env=self._environment(),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        try:
            yield process
            process.terminate()
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, f"{line}\n{log.read_text(encoding='utf-8')[-4000:]}"
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def _placed(self, line: str) -> str:
        return WELL_KNOWN.sub(self.servers, line)

    def _environment(self) -> dict[str, str]:
        path = f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}"
        folders = {
            "JUPYTER_RUNTIME_DIR": str(self.folder / "jupyter"),
            "IPYTHONDIR": str(self.folder / "ipython"),
        }
        return {**os.environ, **folders, "PATH": path, "KAFKA_BOOTSTRAP_SERVERS": self.servers}
