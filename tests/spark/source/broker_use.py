"""What tests of the source do to a broker: fill topics, trim them, run transactions."""

from collections.abc import Iterable, Sequence
from typing import Any

from fencepost.client import Admin, Producer
from fencepost.lab.apache_kafka import ApacheKafka
from fencepost.server.embedded import EmbeddedBroker
from fencepost.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)

QUICK = {
    "fsync": "never",
    "log.retention.ms": "-1",  # records carry times of long ago, and a run may take long
}
Broker = EmbeddedBroker | ApacheKafka


def create(broker: Broker, topic: str, partitions: int = 1, **settings: str) -> None:
    with Admin(broker.bootstrap_servers) as admin:
        admin.create_topic(
            topic, partitions, settings={name.replace("_", "."): text for name, text in settings.items()}
        )


def produce(broker: Broker, topic: str, values: Iterable[bytes], **record: Any) -> None:
    with Producer(broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, value=value, **record)
        producer.flush()


def numbered(word: str, count: int) -> list[bytes]:
    return [f"{word}-{number}".encode() for number in range(count)]


def run_transaction(broker: Broker, topic: str, values: Sequence[bytes], *, commits: bool = True) -> None:
    with transactional(broker) as producer:
        producer.begin_transaction()
        for value in values:
            producer.send(topic, value=value, partition=0)
        producer.flush()
        producer.commit_transaction() if commits else producer.abort_transaction()


def transactional(broker: Broker, transactional_id: str = "writer") -> Producer:
    producer = Producer(broker.bootstrap_servers, transactional_id=transactional_id)
    producer.init_transactions()
    return producer


def trim(broker: Broker, topic: str, offset: int, partition: int = 0) -> None:
    """What retention does, at once: records below `offset` are gone."""
    with Admin(broker.bootstrap_servers) as admin:
        topics = [DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])]
        response = admin.cluster.call_any(DeleteRecordsRequest(topics, 10_000), DeleteRecordsResponse)
        (row,) = response.topics[0].partitions
        assert (row.error_code, row.low_watermark) == (0, offset)


def recreate(broker: Broker, topic: str, partitions: int = 1) -> None:
    with Admin(broker.bootstrap_servers) as admin:
        admin.delete_topics([topic])
    create(broker, topic, partitions)
