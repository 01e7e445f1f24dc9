"""Where a story is played: a broker, topics, programs as processes, and the books that are kept at the end.

The broker is embedded unless `--bootstrap-servers` names one. On a cluster that has these topics already, a story
counts only what came after its beginning.
"""

import argparse
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from examples.documents.actor import Actor
from examples.documents.network import LossyNetwork
from examples.documents.waiting import wait_for
from fencepost.client import Admin, Consumer, ConsumerRecord, TopicPartition
from fencepost.client.exceptions import RetriableError
from fencepost.server.embedded import EmbeddedBroker

BROKER_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
}
"""A dead member is missed after seconds; Kafka's default asks for six at least."""
QUICK_SESSION_MS = 3000
CAREFUL_SESSION_MS = 6000


class Broker(Protocol):
    """A broker that can be killed and come back to its data."""

    @property
    def bootstrap_servers(self) -> str: ...

    def kill(self) -> None: ...

    def start(self) -> Any: ...


class Stage:
    def __init__(
        self, bootstrap_servers: str, *, session_timeout_ms: int = CAREFUL_SESSION_MS, broker: Broker | None = None
    ) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.broker = broker
        self._session_timeout_ms = session_timeout_ms
        self._stack = ExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="documents-")))
        self._admin = self._stack.enter_context(Admin(bootstrap_servers))
        self._actors: list[Actor] = []
        self._starts: dict[TopicPartition, int] = {}
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop_all()
        self._stack.close()

    @property
    def folder(self) -> Path:
        return self._folder

    def open_topics(self, topics: dict[str, int]) -> None:
        """Create those that are missing, and note where they end: the story begins there."""
        known = self._admin.describe_topics()
        for topic, partition_count in topics.items():
            if topic not in known:
                self._admin.create_topic(topic, partition_count, 1)
        for topic in topics:
            self._wait_until_settled(topic)
            self._starts |= self._admin.latest_offsets(self.partitions(topic))

    def skip_backlog(self, group_id: str, topic: str) -> None:
        """The group begins where the story does."""
        starts = {where: start for where, start in self._starts.items() if where.topic == topic}
        self._set_offsets(group_id, starts)

    def reset_group(self, group_id: str, topic: str) -> None:
        self._set_offsets(group_id, dict.fromkeys(self.partitions(topic), 0))

    def _set_offsets(self, group_id: str, offsets: dict[TopicPartition, int]) -> None:
        def probe() -> bool:
            self._admin.alter_group_offsets(group_id, offsets)
            return True

        wait_for(f"offsets of {group_id}", lambda: _unless_passing(probe, False))

    def partitions(self, topic: str) -> list[TopicPartition]:
        def probe() -> list[TopicPartition]:
            found = self._admin.describe_topics([topic])[topic].partitions
            return [TopicPartition(topic, partition) for partition in sorted(found)]

        return wait_for(f"partitions of {topic}", lambda: _unless_passing(probe, []))

    def start(self, module: str, *, through: LossyNetwork | None = None, name: str = "", **arguments: Any) -> Actor:
        """`through` a network that loses things, where one is given."""
        given = {
            "bootstrap_servers": (through or self).bootstrap_servers,
            "session_timeout_ms": self._session_timeout_ms,
            **arguments,
        }
        name = f"{name or module.rpartition('.')[2]} ({next(self._numbers)})"
        actor = Actor(module, self._folder, name=name, arguments=given)
        self._actors.append(actor)
        return actor

    def lossy_network(self) -> LossyNetwork:
        return LossyNetwork(self.bootstrap_servers)

    def wait_until_shared_out(self, actors: Sequence[Actor]) -> None:
        """Each of them has been given partitions."""
        for actor in actors:
            actor.wait_until_said("Assigned")

    def wait_until_consumed(self, group_id: str, topic: str) -> None:
        """The group has committed an offset behind every record that is committed. Behind those may be markers."""
        ends = {record.topic_partition: record.offset + 1 for record in self.read(topic)}

        def probe() -> bool:
            committed = self._admin.group_offsets(group_id)
            return all(where in committed and committed[where].offset >= end for where, end in ends.items())

        wait_for(f"{group_id} has consumed {topic}", lambda: _unless_passing(probe, False), self._explain)

    def is_blocked(self, topic: str) -> bool:
        """Whether an open transaction holds readers of committed records back."""
        return not self._is_settled(topic)

    def stop_all(self) -> None:
        for actor in self._actors:
            actor.thaw()
            actor.ask_to_stop()
        for actor in self._actors:
            actor.stop()
        self._actors.clear()

    def read(self, topic: str) -> list[ConsumerRecord]:
        """What was committed since the beginning of the story, partition by partition, once no transaction is open."""
        self._wait_until_settled(topic)
        records: list[ConsumerRecord] = []
        with Consumer(self.bootstrap_servers) as consumer:
            consumer.assign(self.partitions(topic))
            ends = consumer.end_offsets(self.partitions(topic))
            for where, start in self._starts.items():
                if where.topic == topic:
                    consumer.seek(where, start)

            def has_arrived() -> bool:
                records.extend(consumer.poll(0.1))
                return all(consumer.position(where) >= end for where, end in ends.items())

            wait_for(f"the end of {topic}", has_arrived)
        return sorted(records, key=lambda record: (record.partition, record.offset))

    def _wait_until_settled(self, topic: str) -> None:
        wait_for(f"no transaction is open on {topic}", lambda: self._is_settled(topic), self._explain)

    def _is_settled(self, topic: str) -> bool:
        partitions = self.partitions(topic)
        ends = _unless_passing(lambda: self._admin.latest_offsets(partitions), {})
        stable = _unless_passing(lambda: self._admin.latest_offsets(partitions, read_committed=True), None)
        return bool(ends == stable)

    def _explain(self) -> str:
        return "\n".join(f"--- {actor.name}\n{actor.said[-1500:]}" for actor in self._actors)


def _unless_passing(probe: Any, otherwise: Any) -> Any:
    try:
        return probe()
    except RetriableError:
        return otherwise


@contextmanager
def open_stage(bootstrap_servers: str | None) -> Iterator[Stage]:
    """On the cluster that is named, or on a broker of its own."""
    if bootstrap_servers is not None:
        with Stage(bootstrap_servers) as stage:
            yield stage
        return
    with (
        EmbeddedBroker(settings=BROKER_SETTINGS) as broker,
        Stage(broker.bootstrap_servers, session_timeout_ms=QUICK_SESSION_MS) as stage,
    ):
        yield stage


def story_arguments(description: str | None, **choices: Sequence[str]) -> argparse.Namespace:
    """Arguments of a story: `--bootstrap-servers`, and a choice of its versions, all of them by default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bootstrap-servers", help="a cluster to play on; a broker is embedded otherwise")
    for name, values in choices.items():
        parser.add_argument(f"--{name}", choices=values, help="all of them, one after the other, if not given")
    return parser.parse_args()
