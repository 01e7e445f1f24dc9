"""A Spark cluster of real processes on this machine: one master, some workers, each with executors of its own.

PyPI's Spark ships the classes of the standalone master and worker; they are started with its jars, on free ports of
the loopback interface, and ended by their process ids. `kill_executor` kills one executor as a lost machine would.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
import pyspark

from fencepost.lab.apache_kafka import SHORT_LIVED

JARS = Path(pyspark.__file__).parent / "jars"
START_TIMEOUT_S = 120
EXECUTOR_CLASS = "CoarseGrainedExecutorBackend"
OPENED = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
)


class StandaloneCluster:
    def __init__(self, folder: Path, *, worker_count: int = 2, cores: int = 1) -> None:
        self._folder = folder
        self._worker_count = worker_count
        self._cores = cores
        self._processes: list[subprocess.Popen[bytes]] = []
        self._workers: list[subprocess.Popen[bytes]] = []
        self.master = ""

    def start(self) -> Self:
        log = self._launch("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0")
        self.master = self._wait_for(log, r"(spark://127\.0\.0\.1:\d+)")
        logs = []
        for index in range(self._worker_count):
            arguments = ("--host", "127.0.0.1", "--cores", str(self._cores), "--memory", "1g", self.master)
            name = f"worker{index}"
            logs.append(self._launch(name, "org.apache.spark.deploy.worker.Worker", *arguments))
            self._workers.append(self._processes[-1])
        for log in logs:
            self._wait_for(log, r"(Successfully registered with master)")
        return self

    def executors(self) -> list[psutil.Process]:
        """The executors of all workers, of whichever application."""
        found = []
        for worker in self._workers:
            for child in psutil.Process(worker.pid).children(recursive=True):
                if any(EXECUTOR_CLASS in argument for argument in child.cmdline()):
                    found.append(child)
        return found

    def kill_executor(self) -> int:
        """Kill one with all that it has computed. Its worker starts another."""
        victim = self.executors()[0]
        victim.send_signal(signal.SIGKILL)
        return victim.pid

    def stop(self) -> None:
        executors = self.executors()
        for process in reversed(self._processes):
            process.terminate()
            process.wait(60)
        for executor in executors:
            if executor.is_running():
                executor.kill()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _launch(self, name: str, main_class: str, *arguments: str) -> Path:
        folder = self._folder / name
        folder.mkdir(parents=True)
        log = folder / "log"
        opened = [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
        command = [
            _java(),
            "-Xmx512m",
            *SHORT_LIVED,
            "-Dspark.master.rest.enabled=false",
            *opened,
            "-cp",
            f"{JARS}/*",
            main_class,
            "--webui-port",
            "0",
            *arguments,
        ]
        environment = os.environ | {
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "SPARK_SCALA_VERSION": _scala_version(),
            "SPARK_WORKER_DIR": str(folder / "work"),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        with log.open("wb") as output:
            self._processes.append(
                subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
            )
        return log

    def _wait_for(self, log: Path, pattern: str) -> str:
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline_s:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found.group(1)
            time.sleep(0.1)
        raise TimeoutError(f"{pattern} did not appear in:\n{log.read_text(errors='replace')}")


def _scala_version() -> str:
    """A worker looks for it beside the sources of Spark unless it is told."""
    (name,) = [path.name for path in JARS.glob("spark-core_*.jar")]
    return name.removeprefix("spark-core_").split("-")[0]


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"
