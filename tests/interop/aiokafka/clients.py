"""aiokafka's clients with the settings that every test wants, and the loop that tests run in."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

TEST_TIMEOUT_S = 60.0


def in_event_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a coroutine, run to its end or to the deadline."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), TEST_TIMEOUT_S))

    return run


@asynccontextmanager
async def producer(bootstrap_servers: str, **settings: Any) -> AsyncIterator[AIOKafkaProducer]:
    opened = AIOKafkaProducer(bootstrap_servers=bootstrap_servers, **settings)
    await opened.start()
    try:
        yield opened
    finally:
        await opened.stop()


@asynccontextmanager
async def consumer(bootstrap_servers: str, *topics: str, **settings: Any) -> AsyncIterator[AIOKafkaConsumer]:
    defaults = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "fetch_max_wait_ms": 100}
    opened = AIOKafkaConsumer(*topics, bootstrap_servers=bootstrap_servers, **defaults | settings)
    await opened.start()
    try:
        yield opened
    finally:
        await opened.stop()


@asynccontextmanager
async def admin(bootstrap_servers: str) -> AsyncIterator[AIOKafkaAdminClient]:
    opened = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await opened.start()
    try:
        yield opened
    finally:
        await opened.close()


async def create_topic(bootstrap_servers: str, topic: str, *, partitions: int = 1, **config: str) -> None:
    """Settings as keyword arguments: `retention_ms` is `retention.ms`."""
    configs = {name.replace("_", "."): value for name, value in config.items()}
    async with admin(bootstrap_servers) as client:
        response = await client.create_topics([NewTopic(topic, partitions, 1, topic_configs=configs)])
    assert [error[1] for error in response.topic_errors] == [0]


async def read(client: AIOKafkaConsumer, count: int) -> list[ConsumerRecord]:
    """The next `count` records."""
    return [await client.getone() for _ in range(count)]


async def read_all(bootstrap_servers: str, topic: str, *, partitions: int = 1, **settings: Any) -> list[ConsumerRecord]:
    """Everything that a reader sees from the start of each partition to its end at this isolation level."""
    parts = [TopicPartition(topic, partition) for partition in range(partitions)]
    records: list[ConsumerRecord] = []
    async with consumer(bootstrap_servers, **settings) as client:
        client.assign(parts)
        await client.seek_to_beginning()
        ends = await client.end_offsets(parts)
        while any([await client.position(part) < ends[part] for part in parts]):
            polled = await client.getmany(timeout_ms=100)
            records.extend(record for batch in polled.values() for record in batch)
    return records
