"""Apache Kafka beside us: a KRaft node on loopback, or a cluster of three, from the jars of `make kafka`, in temporary
folders.

It is the control in behaviour tests and the rival in benchmarks, with its defaults unless said otherwise.
"""

import contextlib
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Self

from fencepost.errors import FencepostError

SERVER_PORTS = (15_000, 32_000)
JARS = Path(".peers") / "kafka-4.3.1"
CLUSTER_ID = "ZmVuY2Vwb3N0LXBlZXItMQ"
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For a JVM that ends before its best compiler would have been worth its time."""
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 20.0

NODE_COUNT = 3
CLUSTER_SETTINGS = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.min.isr": "2",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
}


def free_ports(count: int) -> list[int]:
    """Ports that the system does not give to outgoing connections: those could take one before its server does, also
    when it is started again after a kill.
    """
    ports: set[int] = set()
    while len(ports) < count:
        port = random.randrange(*SERVER_PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.add(port)
    return list(ports)


def find_jars(start: Path | None = None) -> Path | None:
    """The folder with the jars in this checkout, or None if `make kafka` was not run."""
    root = (start or Path(__file__)).resolve()
    for folder in [root, *root.parents]:
        if (folder / JARS / ".fetched").exists():
            return folder / JARS
    return None


class Place(NamedTuple):
    """Where a node is found: by clients, and by the other controllers."""

    node_id: int
    port: int
    controller_port: int


class ApacheKafka:
    def __init__(
        self,
        *,
        settings: Mapping[str, str] | None = None,
        heap: str = "1g",
        java_options: tuple[str, ...] = (),
        place: Place | None = None,
        format_options: tuple[str, ...] = (),
    ) -> None:
        """`format_options` go to Kafka's storage tool, which lays down what must be there before the first start."""
        jars = find_jars()
        if jars is None:
            raise FencepostError(
                "Apache Kafka's jars are not here: run `make kafka` first (it needs Maven and Java 17)"
            )
        self._classpath = f"{jars}/*"
        self._java_options = (f"-Xmx{heap}", f"-Xms{heap}", *java_options)
        self._temporary = tempfile.TemporaryDirectory(prefix="apache-kafka-")
        self.folder = Path(self._temporary.name)
        self.place = place or Place(1, *free_ports(2))
        self._properties = self.folder / "server.properties"
        self._write_properties(settings or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._format(format_options)

    @property
    def port(self) -> int:
        return self.place.port

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def process_id(self) -> int:
        if self._process is None:
            raise FencepostError("Apache Kafka is not running")
        return self._process.pid

    @property
    def log_file(self) -> Path:
        return self.folder / "server.log"

    def start(self) -> Self:
        """Returns when the broker accepts connections."""
        self.launch()
        self.wait_until_it_listens()
        return self

    def launch(self) -> None:
        """Start the process. A node of a cluster accepts connections when most controllers have found each other."""
        with self.log_file.open("ab") as log:
            command = [*self._java_command(*self._java_options), "kafka.Kafka", str(self._properties)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def wait_until_it_listens(self) -> None:
        try:
            self._wait()
        except BaseException:
            # Whatever ends the wait, a test's time limit included, the process may not outlive it.
            self.kill()
            raise

    def _wait(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise FencepostError(f"Apache Kafka did not start:\n{self.log_file.read_text(errors='replace')[-2000:]}")

    def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, signal_number: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            os.kill(self._process.pid, signal_number)
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def close(self) -> None:
        self.kill()
        self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _java_command(self, *flags: str) -> list[str]:
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return ["java", *flags, quiet, "-cp", self._classpath]

    def _format(self, options: tuple[str, ...]) -> None:
        tool = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self._properties), *options]
        done = subprocess.run([*self._java_command(*SHORT_LIVED), *tool], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self._temporary.cleanup()
            raise FencepostError(f"Apache Kafka's storage tool failed: {done.stderr[-2000:]}")

    def _write_properties(self, settings: Mapping[str, str]) -> None:
        node_id, port, controller_port = self.place
        properties = {
            "process.roles": "broker,controller",
            "node.id": str(node_id),
            "controller.quorum.voters": f"{node_id}@127.0.0.1:{controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
            "log.dirs": str(self.folder / "data"),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            **settings,
        }
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))


class ApacheCluster:
    """Three nodes, each broker and controller, every partition on all of them.

    One node may be killed at any moment: two of three are a majority of the controllers and enough in-sync replicas, so
    that nothing acknowledged is lost and everything goes on. A node that is gone is noticed within seconds.
    """

    def __init__(self, *, settings: Mapping[str, str] | None = None, heap: str = "384m") -> None:
        ports = free_ports(2 * NODE_COUNT)
        places = [Place(index + 1, *ports[2 * index : 2 * index + 2]) for index in range(NODE_COUNT)]
        voters = ",".join(f"{place.node_id}@127.0.0.1:{place.controller_port}" for place in places)
        shared = {**CLUSTER_SETTINGS, "controller.quorum.voters": voters, **(settings or {})}
        with ThreadPoolExecutor(NODE_COUNT) as pool:
            made = pool.map(
                lambda place: ApacheKafka(settings=shared, heap=heap, java_options=SHORT_LIVED, place=place), places
            )
            self.nodes = {node.place.node_id: node for node in made}

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(node.bootstrap_servers for node in self.nodes.values())

    def start(self) -> Self:
        """Start every node that is not running; returns when all accept connections."""
        stopped = [node for node in self.nodes.values() if not node.is_running]
        for node in stopped:
            node.launch()
        for node in stopped:
            node.wait_until_it_listens()
        return self

    def kill(self, node_id: int) -> None:
        """SIGKILL to one node, as a crash would."""
        self.nodes[node_id].kill()

    def close(self) -> None:
        for node in self.nodes.values():
            node.close()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()
