"""Reading a topic to its end with our consumer, and writing one with confluent-kafka."""

from collections.abc import Callable
from typing import Any

import confluent_kafka

from fencepost.client import Consumer, ConsumerRecord, TopicPartition
from fencepost.client.exceptions import CommitFailed
from tests.behaviour_client.reading import wait_for_markers
from tests.interop.confluent.clients import producer
from tests.interop.support import DEADLINE_S, wait_for


def read_all(servers: str, topic: str, *, while_open: bool = False, **settings: Any) -> list[ConsumerRecord]:
    """Everything that a reader gets from the beginning to the end as it is now, in order within each partition.

    Kafka answers a commit before its markers are written: unless a transaction is meant to be open, those are awaited.
    """
    if not while_open:
        wait_for_markers(servers, topic)
    with Consumer(servers, **settings) as consumer:
        partitions = consumer.partitions_for(topic)
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        return read_to(consumer, consumer.end_offsets(partitions))


def read_to(consumer: Consumer, ends: dict[TopicPartition, int]) -> list[ConsumerRecord]:
    records: list[ConsumerRecord] = []

    def probe() -> bool:
        records.extend(consumer.poll(0.1))
        return all(consumer.position(where) >= end for where, end in ends.items())

    wait_for(f"the ends {ends}", probe, pause_s=0)
    return records


def read(consumer: Consumer, count: int) -> list[ConsumerRecord]:
    """The next records, until there are so many; one poll may bring some more."""
    records: list[ConsumerRecord] = []

    def probe() -> bool:
        records.extend(consumer.poll(0.1))
        return len(records) >= count

    wait_for(f"{count} records", probe, pause_s=0)
    return records


def produce(servers: str, topic: str, values: list[bytes], *, partition: int = 0, **settings: Any) -> None:
    client = producer(servers, **settings)
    for value in values:
        client.produce(topic, value, partition=partition)
    assert client.flush(DEADLINE_S) == 0


def transactional(servers: str, transactional_id: str, **settings: Any) -> confluent_kafka.Producer:
    client = producer(servers, transactional_id=transactional_id, **settings)
    client.init_transactions(DEADLINE_S)
    return client


def run_transaction(
    client: confluent_kafka.Producer, body: Callable[[confluent_kafka.Producer], None], *, is_commit: bool
) -> None:
    client.begin_transaction()
    body(client)
    assert client.flush(DEADLINE_S) == 0
    (client.commit_transaction if is_commit else client.abort_transaction)(DEADLINE_S)


def is_out(member: Consumer) -> bool:
    """Whether the group has lost this member, as far as it knows."""
    try:
        member.group_metadata()
    except CommitFailed:
        return True
    return False
