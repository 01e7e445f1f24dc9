"""The same source on Apache Kafka: what its broker says of transactions, retention, ids and times fits."""

import itertools
from collections.abc import Iterator

import pytest

from fencepost.client import Admin, Producer
from fencepost.lab.apache_kafka import ApacheKafka
from fencepost.spark.source.following import DataLoss
from tests.behaviour_client.reading import wait_for_markers
from tests.spark.source.broker_use import create, numbered, produce, recreate, run_transaction, transactional, trim
from tests.spark.source.query import Query, batch_rows, close_all, values

pytestmark = pytest.mark.kafka
FIRST, SECOND = numbered("first", 20), numbered("second", 20)
numbers = itertools.count(1)


@pytest.fixture
def topic(kafka: ApacheKafka) -> Iterator[str]:
    name = f"purchases-{next(numbers)}"
    create(kafka, name)
    yield name
    close_all()


def test_a_stream_reads_goes_on_and_finds_new_partitions(kafka: ApacheKafka, topic: str) -> None:
    query = Query(kafka, topic, startingOffsets="earliest", maxOffsetsPerTrigger="7")
    produce(kafka, topic, FIRST)
    assert values(query.drain()) == FIRST
    query.kill()
    with Admin(kafka.bootstrap_servers) as admin:
        admin.create_partitions({topic: 2})
    produce(kafka, topic, SECOND, partition=1)
    assert values(query.drain()) == SECOND


def test_committed_transactions_are_read_and_holes_are_no_loss(kafka: ApacheKafka, topic: str) -> None:
    query = Query(kafka, topic, startingOffsets="earliest", maxOffsetsPerTrigger="7")
    run_transaction(kafka, topic, FIRST)
    run_transaction(kafka, topic, SECOND, commits=False)
    wait_for_markers(kafka.bootstrap_servers, topic)
    assert values(query.drain()) == FIRST
    with transactional(kafka, f"writer-of-{topic}") as producer:
        producer.begin_transaction()
        producer.send(topic, value=b"inside", partition=0)
        producer.flush()
        produce(kafka, topic, [b"behind"])
        assert query.drain() == []
        producer.commit_transaction()
    wait_for_markers(kafka.bootstrap_servers, topic)
    assert values(query.drain()) == [b"inside", b"behind"]
    uncommitted = batch_rows(kafka, topic, **{"kafka.isolation.level": "read_uncommitted"})
    assert values(uncommitted) == [*FIRST, *SECOND, b"inside", b"behind"]


def test_lost_records_are_told(kafka: ApacheKafka, topic: str) -> None:
    query = Query(kafka, topic, startingOffsets="earliest")
    produce(kafka, topic, FIRST)
    assert values(query.drain()) == FIRST
    produce(kafka, topic, SECOND)
    trim(kafka, topic, 25)
    with pytest.raises(DataLoss, match="expected offset 20, first available 25, 5 offsets are missing"):
        query.trigger()


def test_a_topic_created_again_is_told(kafka: ApacheKafka, topic: str) -> None:
    query = Query(kafka, topic, startingOffsets="earliest")
    produce(kafka, topic, FIRST)
    assert values(query.drain()) == FIRST
    recreate(kafka, topic)
    produce(kafka, topic, FIRST + SECOND)
    with pytest.raises(DataLoss, match="was deleted and created again"):
        query.trigger()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_times_choose_a_range_in_batches_of_any_codec(kafka: ApacheKafka, topic: str, codec: str) -> None:
    with Producer(kafka.bootstrap_servers, compression_type=codec) as producer:
        for number in range(100):
            producer.send(topic, value=b"%d" % number, timestamp_ms=1_000_000 + number)
        producer.flush()
    found = batch_rows(kafka, topic, startingTimestamp="1000040", endingTimestamp="1000060")
    assert values(found) == [b"%d" % number for number in range(40, 60)]
