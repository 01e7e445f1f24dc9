"""The two brokers that are compared, as processes with the same handles: ours and Apache Kafka."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import psutil

from fencepost.lab.apache_kafka import ApacheKafka, free_ports


class Broker(Protocol):
    name: str

    @property
    def bootstrap_servers(self) -> str: ...

    @property
    def process_id(self) -> int: ...

    def start(self) -> object: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


class Fencepost:
    """`fencepost serve`, synced unless said otherwise."""

    def __init__(self, folder: Path, *, settings: dict[str, str] | None = None, name: str = "fencepost") -> None:
        self.name = name
        self._folder = folder
        self._settings = settings or {}
        self._port = free_ports(1)[0]
        self._process: subprocess.Popen[str] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        command = [sys.executable, "-m", "fencepost", "serve", "--log-level", "error"]
        command += ["--listen", self.bootstrap_servers, "--data", str(self._folder)]
        for name, value in self._settings.items():
            command += ["--set", f"{name}={value}"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("listening"), "the broker did not start"

    def kill(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None

    close = kill


class Kafka(ApacheKafka):
    def __init__(self, *, settings: dict[str, str] | None = None, name: str = "kafka") -> None:
        super().__init__(settings=settings)
        self.name = name


BROKER_OPTION = {"--broker": {"choices": ("fencepost", "kafka"), "help": "only on this one"}}


def started_brokers(chosen: str | None, folder: Path, stack: ExitStack) -> Iterator[Broker]:
    """The chosen one or both, each started when it is asked for."""
    for name in [chosen] if chosen else ["fencepost", "kafka"]:
        broker: Broker = Fencepost(folder / "data") if name == "fencepost" else Kafka()
        stack.callback(broker.close)
        broker.start()
        yield broker


def rss_megabytes(broker: Broker) -> float:
    return float(psutil.Process(broker.process_id).memory_info().rss) / 1e6


def cpu_seconds(broker: Broker) -> float:
    times = psutil.Process(broker.process_id).cpu_times()
    return float(times.user + times.system)
