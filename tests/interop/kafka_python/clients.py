"""kafka-python's clients with the settings that every test wants."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord

from tests.interop.support import DEADLINE_S, wait_for


@contextmanager
def producer(bootstrap_servers: str, **settings: Any) -> Iterator[KafkaProducer]:
    opened = KafkaProducer(bootstrap_servers=bootstrap_servers, **settings)
    try:
        yield opened
    finally:
        opened.close(timeout=1)


@contextmanager
def transactional(bootstrap_servers: str, transactional_id: str, **settings: Any) -> Iterator[KafkaProducer]:
    with producer(bootstrap_servers, transactional_id=transactional_id, **settings) as opened:
        opened.init_transactions()
        yield opened


@contextmanager
def consumer(bootstrap_servers: str, *topics: str, **settings: Any) -> Iterator[KafkaConsumer]:
    defaults = {"enable_auto_commit": False, "auto_offset_reset": "earliest", "fetch_max_wait_ms": 100}
    opened = KafkaConsumer(bootstrap_servers=bootstrap_servers, **defaults | settings)
    try:
        if topics:
            # Metadata is asked for before the group is joined: where it comes later and a poll ends while the member
            # joins again because of it, kafka-python 3.0 forgets the assignment that the broker gives it.
            opened.subscribe(list(topics))
            wait_for("metadata", lambda: opened.topics() >= set(topics))
        yield opened
    finally:
        opened.close()


@contextmanager
def admin(bootstrap_servers: str) -> Iterator[KafkaAdminClient]:
    opened = KafkaAdminClient(bootstrap_servers=bootstrap_servers)
    try:
        yield opened
    finally:
        opened.close()


def create_topic(bootstrap_servers: str, topic: str, *, partitions: int = 1, **config: str) -> None:
    """Settings as keyword arguments: `retention_ms` is `retention.ms`."""
    configs = {name.replace("_", "."): value for name, value in config.items()}
    with admin(bootstrap_servers) as client:
        client.create_topics({topic: {"num_partitions": partitions, "replication_factor": 1, "configs": configs}})


def send(client: KafkaProducer, topic: str, value: bytes | None, **more: Any) -> Any:
    """The metadata of the record that was stored, or the error as an exception."""
    return client.send(topic, value, **more).get(DEADLINE_S)


def read(client: KafkaConsumer, count: int) -> list[ConsumerRecord]:
    """The next `count` records."""
    records: list[ConsumerRecord] = []

    def probe() -> bool:
        polled = client.poll(timeout_ms=100, max_records=count - len(records))
        records.extend(record for batch in polled.values() for record in batch)
        return len(records) >= count

    wait_for(f"{count} records", probe, pause_s=0)
    return records


def read_all(bootstrap_servers: str, topic: str, *, partitions: int = 1, **settings: Any) -> list[ConsumerRecord]:
    """Everything that a reader sees from the start of each partition to its end at this isolation level."""
    parts = [TopicPartition(topic, partition) for partition in range(partitions)]
    records: list[ConsumerRecord] = []
    with consumer(bootstrap_servers, **settings) as client:
        client.assign(parts)
        client.seek_to_beginning()
        ends = client.end_offsets(parts)

        def probe() -> bool:
            records.extend(record for batch in client.poll(timeout_ms=100).values() for record in batch)
            return all(client.position(part) >= ends[part] for part in parts)

        wait_for(f"the end of {topic}", probe, pause_s=0)
    return records
