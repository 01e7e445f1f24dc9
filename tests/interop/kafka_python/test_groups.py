"""Consumer groups of kafka-python: eager, cooperative and static."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kafka import OffsetAndMetadata, TopicPartition
from kafka.errors import FencedInstanceIdError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.group_life import (
    PARTITIONS,
    Group,
    a_static_member_comes_back,
    members_join_leave_and_crash,
    partition_of,
)
from tests.interop.kafka_python.clients import consumer, create_topic, producer
from tests.interop.support import DEADLINE_S, wait_for


@pytest.fixture
def group_of(broker: EmbeddedBroker, name: str, tmp_path: Path) -> Callable[..., Group]:
    """A group of processes on a topic of its own."""
    create_topic(broker.bootstrap_servers, name, partitions=PARTITIONS)

    def produce(first: int, count: int) -> None:
        with producer(broker.bootstrap_servers) as client:
            for number, partition in partition_of(range(first, first + count)):
                client.send(name, b"%d" % number, partition=partition)
            client.flush(timeout=DEADLINE_S)

    def build(assignor: str, session_timeout_ms: int) -> Group:
        arguments = {
            "bootstrap_servers": broker.bootstrap_servers,
            "topic": name,
            "group": name,
            "assignor": assignor,
            "session_timeout_ms": session_timeout_ms,
        }
        module = "tests.interop.kafka_python.group_member"
        return Group(module=module, folder=tmp_path, arguments=arguments, produce=produce)

    return build


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
def test_members_join_leave_and_crash_without_losing_or_repeating_a_committed_record(
    group_of: Callable[..., Group], assignor: str
) -> None:
    with group_of(assignor, session_timeout_ms=1500) as group:
        members_join_leave_and_crash(group)


def test_a_static_member_that_is_killed_comes_back_to_its_partitions_without_a_rebalance(
    group_of: Callable[..., Group],
) -> None:
    with group_of("range", session_timeout_ms=10_000) as group:
        a_static_member_comes_back(group, killed=True)


def test_a_second_static_member_with_the_same_instance_id_fences_the_first(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    settings = {"group_id": name, "group_instance_id": "the one", "heartbeat_interval_ms": 100}
    with (
        consumer(broker.bootstrap_servers, name, **settings) as first,
        consumer(broker.bootstrap_servers, name, **settings) as second,
    ):
        wait_for("the first has the partition", lambda: first.poll(100) or first.assignment())
        wait_for("the second has the partition", lambda: second.poll(100) or second.assignment())

        with pytest.raises(FencedInstanceIdError):
            first.commit({TopicPartition(name, 0): OffsetAndMetadata(0, "", -1)})
        second.commit({TopicPartition(name, 0): OffsetAndMetadata(0, "", -1)})
