"""Consumer groups of aiokafka: eager ones, with and without static members. It has no other protocol."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.aiokafka.clients import consumer, create_topic, in_event_loop, producer, read
from tests.interop.group_life import (
    PARTITIONS,
    Group,
    a_static_member_comes_back,
    members_join_leave_and_crash,
    partition_of,
)


@pytest.fixture
def group_of(broker: EmbeddedBroker, name: str, tmp_path: Path) -> Callable[..., Group]:
    """A group of processes on a topic of its own."""
    asyncio.run(create_topic(broker.bootstrap_servers, name, partitions=PARTITIONS))

    async def produce(first: int, count: int) -> None:
        async with producer(broker.bootstrap_servers, enable_idempotence=True) as client:
            for number, partition in partition_of(range(first, first + count)):
                await client.send(name, b"%d" % number, partition=partition)
            await client.flush()

    def build(assignor: str, session_timeout_ms: int) -> Group:
        arguments = {
            "bootstrap_servers": broker.bootstrap_servers,
            "topic": name,
            "group": name,
            "assignor": assignor,
            "session_timeout_ms": session_timeout_ms,
        }
        return Group(
            module="tests.interop.aiokafka.group_member",
            folder=tmp_path,
            arguments=arguments,
            produce=lambda first, count: asyncio.run(produce(first, count)),
        )

    return build


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky"])
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


@in_event_loop
async def test_a_second_static_member_with_the_same_instance_id_fences_the_first(
    broker: EmbeddedBroker, name: str
) -> None:
    part = TopicPartition(name, 0)
    await create_topic(broker.bootstrap_servers, name)
    async with producer(broker.bootstrap_servers) as client:
        await client.send_and_wait(name, b"v")
    # Heartbeats far apart: it is the commit of the first that finds out.
    settings = {"group_id": name, "group_instance_id": "the one", "heartbeat_interval_ms": 9000}
    async with consumer(broker.bootstrap_servers, name, **settings) as first:
        await read(first, 1)
        async with consumer(broker.bootstrap_servers, name, **settings) as second:
            await read(second, 1)
            with pytest.raises(CommitFailedError):
                await first.commit({part: 1})
            assert await second.committed(part) is None
