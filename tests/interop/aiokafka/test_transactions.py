"""The life of a transaction through aiokafka: commit, abort, fencing, offsets, time-out, and a copier that dies."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError, ProducerFenced

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.aiokafka.clients import consumer, create_topic, in_event_loop, producer, read_all
from tests.interop.copier_life import PARTITIONS, two_copiers_rebalance_and_one_is_killed

Values = Callable[[str], Awaitable[list[bytes | None]]]


@pytest.fixture
def values(broker: EmbeddedBroker, name: str) -> Values:
    """What a reader of an isolation level sees in the test's topic."""
    asyncio.run(create_topic(broker.bootstrap_servers, name))

    async def read_values(isolation_level: str) -> list[bytes | None]:
        records = await read_all(broker.bootstrap_servers, name, isolation_level=isolation_level)
        return [record.value for record in records]

    return read_values


@in_event_loop
async def test_a_commit_shows_everything_and_an_abort_nothing(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    async with producer(broker.bootstrap_servers, transactional_id=name) as client:
        async with client.transaction():
            await client.send(name, b"kept 1")
            await client.send(name, b"kept 2")
        await client.begin_transaction()
        await client.send_and_wait(name, b"dropped")
        await client.abort_transaction()
        async with client.transaction():
            await client.send(name, b"kept 3")
    assert await values("read_committed") == [b"kept 1", b"kept 2", b"kept 3"]
    assert await values("read_uncommitted") == [b"kept 1", b"kept 2", b"dropped", b"kept 3"]


@in_event_loop
async def test_a_committed_reader_stops_before_an_open_transaction(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    async with (
        producer(broker.bootstrap_servers) as plain,
        producer(broker.bootstrap_servers, transactional_id=name) as client,
    ):
        await plain.send_and_wait(name, b"before")
        async with client.transaction():
            await client.send_and_wait(name, b"open")
            await plain.send_and_wait(name, b"after")
            assert await values("read_committed") == [b"before"]
            assert await values("read_uncommitted") == [b"before", b"open", b"after"]
        assert await values("read_committed") == [b"before", b"open", b"after"]


@in_event_loop
async def test_a_second_instance_fences_the_first_and_aborts_what_it_left_open(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    async with producer(broker.bootstrap_servers, transactional_id=name) as zombie:
        await zombie.begin_transaction()
        await zombie.send_and_wait(name, b"of the zombie")
        async with producer(broker.bootstrap_servers, transactional_id=name) as heir:
            with pytest.raises(ProducerFenced):
                await zombie.commit_transaction()
            async with heir.transaction():
                await heir.send(name, b"of the heir")
    assert await values("read_committed") == [b"of the heir"]
    assert await values("read_uncommitted") == [b"of the zombie", b"of the heir"]


@in_event_loop
async def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    async with (
        producer(broker.bootstrap_servers) as plain,
        producer(broker.bootstrap_servers, transactional_id=name, transaction_timeout_ms=1000) as client,
    ):
        await client.begin_transaction()
        await client.send_and_wait(name, b"slow")
        await plain.send_and_wait(name, b"waiting")
        assert await values("read_committed") == []
        while await values("read_committed") != [b"waiting"]:
            await asyncio.sleep(0)
        with pytest.raises(KafkaError):
            await client.commit_transaction()
    assert await values("read_committed") == [b"waiting"]


@in_event_loop
async def test_offsets_of_a_transaction_count_when_it_commits_and_not_when_it_aborts(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    part = TopicPartition(name, 0)
    async with (
        producer(broker.bootstrap_servers, transactional_id=name) as client,
        consumer(broker.bootstrap_servers, name, group_id=name) as observer,
    ):
        await client.begin_transaction()
        await client.send_offsets_to_transaction({part: 1}, name)
        await client.abort_transaction()
        assert await observer.committed(part) is None
        await client.begin_transaction()
        await client.send_offsets_to_transaction({part: 1}, name)
        await client.commit_transaction()
        assert await observer.committed(part) == 1


def test_two_copiers_that_rebalance_while_one_is_killed_copy_each_record_once(
    broker: EmbeddedBroker, name: str, tmp_path: Path
) -> None:
    source, target = f"{name}-source", f"{name}-target"
    asyncio.run(create_topic(broker.bootstrap_servers, source, partitions=PARTITIONS))
    asyncio.run(create_topic(broker.bootstrap_servers, target, partitions=PARTITIONS))

    async def produce(values: list[bytes]) -> None:
        async with producer(broker.bootstrap_servers, enable_idempotence=True) as client:
            for number, value in enumerate(values):
                await client.send(source, value, partition=number % PARTITIONS)
            await client.flush()

    async def read_values(isolation_level: str) -> list[bytes]:
        settings = {"partitions": PARTITIONS, "isolation_level": isolation_level}
        return [record.value for record in await read_all(broker.bootstrap_servers, target, **settings)]

    two_copiers_rebalance_and_one_is_killed(
        module="tests.interop.aiokafka.copier",
        folder=tmp_path,
        arguments={
            "bootstrap_servers": broker.bootstrap_servers,
            "source": source,
            "target": target,
            "group": name,
        },
        produce=lambda values: asyncio.run(produce(values)),
        read_values=lambda isolation_level: asyncio.run(read_values(isolation_level)),
    )
