"""Consumer groups of librdkafka: eager, cooperative, static and KIP-848."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import consumer, create_topic, producer, read, send
from tests.interop.group_life import (
    PARTITIONS,
    Group,
    a_static_member_comes_back,
    members_join_leave_and_crash,
    partition_of,
)
from tests.interop.support import DEADLINE_S, wait_for

CLASSIC = {"session_timeout_ms": 1500, "heartbeat_interval_ms": 200}
EAGER = {**CLASSIC, "partition_assignment_strategy": "range"}
COOPERATIVE = {**CLASSIC, "partition_assignment_strategy": "cooperative-sticky"}
KIP_848 = {"group_protocol": "consumer"}
KIP_848_RANGE = {"group_protocol": "consumer", "group_remote_assignor": "range"}


@pytest.fixture
def group_of(broker: EmbeddedBroker, name: str, tmp_path: Path) -> Callable[[dict[str, Any]], Group]:
    """A group of processes on a topic of its own."""
    create_topic(broker.bootstrap_servers, name, partitions=PARTITIONS)

    def produce(first: int, count: int) -> None:
        client = producer(broker.bootstrap_servers, enable_idempotence=True)
        for number, partition in partition_of(range(first, first + count)):
            client.produce(name, b"%d" % number, partition=partition)
        assert client.flush(DEADLINE_S) == 0

    def build(settings: dict[str, Any]) -> Group:
        arguments = {
            "bootstrap_servers": broker.bootstrap_servers,
            "topic": name,
            "group": name,
            "settings": settings,
        }
        module = "tests.interop.confluent.group_member"
        return Group(module=module, folder=tmp_path, arguments=arguments, produce=produce)

    return build


@pytest.mark.parametrize(
    "settings",
    [EAGER, COOPERATIVE, KIP_848, KIP_848_RANGE],
    ids=["eager", "cooperative", "kip-848-uniform", "kip-848-range"],
)
def test_members_join_leave_and_crash_without_losing_or_repeating_a_committed_record(
    group_of: Callable[[dict[str, Any]], Group], settings: dict[str, Any]
) -> None:
    with group_of(settings) as group:
        members_join_leave_and_crash(group)


@pytest.mark.parametrize("settings", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
def test_a_static_member_that_is_killed_comes_back_to_its_partitions_without_a_rebalance(
    group_of: Callable[[dict[str, Any]], Group], settings: dict[str, Any]
) -> None:
    with group_of(settings | {"session_timeout_ms": 10_000}) as group:
        a_static_member_comes_back(group, killed=True)


def test_a_static_member_of_a_kip_848_group_that_closes_comes_back_to_its_partitions_without_a_rebalance(
    group_of: Callable[[dict[str, Any]], Group],
) -> None:
    """A killed one holds its instance id until its session ends (UNRELEASED_INSTANCE_ID), as with Apache Kafka."""
    with group_of(KIP_848) as group:
        a_static_member_comes_back(group, killed=False)


def test_a_second_static_member_with_the_same_instance_id_fences_the_first(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    settings = {"group_id": name, "group_instance_id": "the one", **EAGER, "session_timeout_ms": 10_000}
    with (
        consumer(broker.bootstrap_servers, **settings) as first,
        consumer(broker.bootstrap_servers, **settings) as second,
    ):
        first.subscribe([name])
        wait_for("the first has the partition", lambda: first.poll(0.1) or first.assignment())
        second.subscribe([name])

        def fenced() -> bool:
            second.poll(0.05)
            message = first.poll(0.05)
            return message is not None and message.error().code() == KafkaError._FATAL

        wait_for("the first is fenced", fenced)
        wait_for("the second has the partition", lambda: second.poll(0.1) or second.assignment())


def test_a_classic_group_that_becomes_a_kip_848_group_keeps_its_offsets(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    client = producer(broker.bootstrap_servers)
    for number in range(10):
        send(client, name, b"%d" % number)
    with consumer(broker.bootstrap_servers, group_id=name, **EAGER) as classic:
        classic.subscribe([name])
        classic.commit(message=read(classic, 5)[-1], asynchronous=False)
    with consumer(broker.bootstrap_servers, group_id=name, **KIP_848) as upgraded:
        upgraded.subscribe([name])
        assert [message.value() for message in read(upgraded, 5)] == [b"5", b"6", b"7", b"8", b"9"]
