"""What is in a topic, as confluent-kafka sees it."""

import threading
import time
from typing import NamedTuple

import confluent_kafka

from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import RetriableError
from fencepost.types import TopicPartition

PATIENCE_S = 120.0


class Read(NamedTuple):
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int


def read_topic(
    servers: str, topic: str, *, isolation_level: str = "read_committed", while_open: bool = False
) -> list[Read]:
    """Every record from the first to the last one that there is now, partition by partition.

    Kafka answers a commit before its markers are written: unless a transaction is open on purpose (`while_open`), this
    waits until none holds readers back.
    """
    if not while_open:
        wait_for_markers(servers, topic)
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": isolation_level,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
    )
    try:
        partitions = sorted(consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions)
        consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0) for partition in partitions])
        return sorted(_read_to_the_end(consumer, set(partitions)), key=lambda read: (read.partition, read.offset))
    finally:
        consumer.close()


def _read_to_the_end(consumer: confluent_kafka.Consumer, unfinished: set[int]) -> list[Read]:
    found = []
    deadline = time.monotonic() + PATIENCE_S
    while unfinished:
        assert time.monotonic() < deadline, f"partitions {unfinished} have no end"
        for message in consumer.consume(1000, timeout=0.02):
            error = message.error()
            if error is not None and error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                unfinished.discard(message.partition())
            else:
                assert error is None, error
                found.append(
                    Read(
                        message.partition(),
                        message.offset(),
                        message.key(),
                        message.value(),
                        tuple(message.headers() or ()),
                        message.timestamp()[1],
                    )
                )
    return found


def wait_for_markers(servers: str, topic: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with Admin(servers) as admin:
        while not _is_settled(admin, topic):
            assert time.monotonic() < deadline, f"a transaction is open on {topic}"
            time.sleep(0.01)


def _is_settled(admin: Admin, topic: str) -> bool:
    try:
        found = admin.describe_topics([topic])[topic]
        partitions = [TopicPartition(topic, partition) for partition in found.partitions]
        return admin.latest_offsets(partitions, read_committed=True) == admin.latest_offsets(partitions)
    except RetriableError:
        return False


def values(
    servers: str, topic: str, *, isolation_level: str = "read_committed", while_open: bool = False
) -> list[bytes | None]:
    read = read_topic(servers, topic, isolation_level=isolation_level, while_open=while_open)
    return [one.value for one in read]


def client_threads() -> set[threading.Thread]:
    """Those of our clients. A broker in this process starts others whenever it has work for them."""
    names = ("fencepost-sender", "fencepost-group-")
    return {thread for thread in threading.enumerate() if thread.name.startswith(names)}
