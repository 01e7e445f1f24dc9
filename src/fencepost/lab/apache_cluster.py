"""A cluster of Apache Kafka: three KRaft nodes on loopback, each broker and controller, every partition on all of them.

One node may be killed at any moment: two of three are a majority of the controllers and enough in-sync replicas, so
that nothing acknowledged is lost and everything goes on. A node that is gone is noticed within seconds.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from fencepost.lab.apache_kafka import SHORT_LIVED, ApacheKafka, Place
from fencepost.lab.free_ports import free_ports

NODE_COUNT = 3
SETTINGS = {
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


class ApacheCluster:
    def __init__(self, *, settings: Mapping[str, str] | None = None, heap: str = "384m") -> None:
        ports = free_ports(2 * NODE_COUNT)
        places = [Place(index + 1, *ports[2 * index : 2 * index + 2]) for index in range(NODE_COUNT)]
        voters = ",".join(f"{place.node_id}@127.0.0.1:{place.controller_port}" for place in places)
        shared = {**SETTINGS, "controller.quorum.voters": voters, **(settings or {})}
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

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
