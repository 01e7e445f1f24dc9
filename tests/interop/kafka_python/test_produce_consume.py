"""Records through kafka-python: codecs, partitions of keys, headers, nulls, timestamps, acks, sizes, topics."""

import time
from collections.abc import Callable

import pytest
from kafka import TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import (
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.kafka_python.clients import admin, consumer, create_topic, producer, read, read_all, send
from tests.interop.support import COMPRESSIONS, DEADLINE_S, MURMUR2_OF_KEY, SAMPLES, Sample, apache_partition

CREATE_TIME, LOG_APPEND_TIME = 0, 1


def as_sample(record: ConsumerRecord) -> Sample:
    assert record.timestamp_type == CREATE_TIME
    return Sample(record.key, record.value, tuple(record.headers), record.timestamp)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_records_come_back_as_they_were_sent_with_each_codec(
    broker: EmbeddedBroker, name: str, compression: str
) -> None:
    create_topic(broker.bootstrap_servers, name)
    codec = None if compression == "none" else compression
    with producer(broker.bootstrap_servers, compression_type=codec, linger_ms=5) as client:
        for sample in SAMPLES:
            client.send(name, sample.value, sample.key, headers=list(sample.headers), timestamp_ms=sample.timestamp_ms)
        client.flush(timeout=DEADLINE_S)
    records = read_all(broker.bootstrap_servers, name)
    assert [as_sample(record) for record in records] == SAMPLES
    assert [record.offset for record in records] == list(range(len(SAMPLES)))


def test_keys_land_on_the_partitions_of_apache_kafka(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, partitions=7)
    with producer(broker.bootstrap_servers) as client:
        landed = {key: send(client, name, b"v", key=key).partition for key in MURMUR2_OF_KEY}
    assert landed == {key: apache_partition(key, 7) for key in MURMUR2_OF_KEY}
    records = read_all(broker.bootstrap_servers, name, partitions=7)
    assert {record.key: record.partition for record in records} == landed


def test_a_topic_may_stamp_records_with_the_time_of_the_append(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, message_timestamp_type="LogAppendTime")
    before_ms = int(time.time() * 1000)
    with producer(broker.bootstrap_servers) as client:
        sent = send(client, name, b"v", timestamp_ms=1_600_000_000_000)
    after_ms = int(time.time() * 1000)
    (record,) = read_all(broker.bootstrap_servers, name)
    assert record.timestamp_type == LOG_APPEND_TIME
    assert before_ms <= record.timestamp <= after_ms
    assert sent.timestamp == record.timestamp


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_each_kind_of_acknowledgement_delivers(broker: EmbeddedBroker, name: str, acks: int | str) -> None:
    create_topic(broker.bootstrap_servers, name)
    with producer(broker.bootstrap_servers, acks=acks, enable_idempotence=False) as client:
        for number in range(50):
            client.send(name, b"%d" % number)
        client.flush(timeout=DEADLINE_S)
    with consumer(broker.bootstrap_servers) as reader:
        reader.assign([TopicPartition(name, 0)])
        assert [record.value for record in read(reader, 50)] == [b"%d" % number for number in range(50)]


def test_an_idempotent_producer_with_five_requests_in_flight_keeps_order(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    with producer(broker.bootstrap_servers, enable_idempotence=True, batch_size=100) as client:
        for number in range(1_000):
            client.send(name, b"%d" % number)
        client.flush(timeout=DEADLINE_S)
    assert [int(record.value) for record in read_all(broker.bootstrap_servers, name)] == list(range(1_000))


def test_large_records_come_back_whole(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, max_message_bytes="20000000")
    values = [bytes([number]) * 5_000_000 for number in range(3)]
    with producer(broker.bootstrap_servers, max_request_size=20_000_000) as client:
        for value in values:
            send(client, name, value)
    assert [record.value for record in read_all(broker.bootstrap_servers, name)] == values


def test_a_record_above_the_limit_of_its_topic_is_refused_and_the_next_one_is_not(
    broker: EmbeddedBroker, name: str
) -> None:
    create_topic(broker.bootstrap_servers, name, max_message_bytes="10000")
    with producer(broker.bootstrap_servers, enable_idempotence=False) as client:
        with pytest.raises(MessageSizeTooLargeError):
            send(client, name, b"x" * 20_000)
        assert send(client, name, b"small").offset == 0


def test_offsets_are_found_by_time(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    part = TopicPartition(name, 0)
    with producer(broker.bootstrap_servers) as client:
        for number in range(10):
            send(client, name, b"%d" % number, timestamp_ms=1_700_000_000_000 + 1000 * number)
    with consumer(broker.bootstrap_servers) as reader:
        asked_ms = {0: 0, 1_700_000_003_000: 3, 1_700_000_003_001: 4, 1_700_000_009_000: 9}
        for timestamp_ms, offset in asked_ms.items():
            assert reader.offsets_for_times({part: timestamp_ms})[part].offset == offset
        assert reader.offsets_for_times({part: 1_700_000_009_001})[part] is None
        assert reader.beginning_offsets([part]) == {part: 0}
        assert reader.end_offsets([part]) == {part: 10}


def test_an_offset_beyond_the_log_resets_or_errs_as_the_reader_asked(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    part = TopicPartition(name, 0)
    with producer(broker.bootstrap_servers) as client:
        send(client, name, b"first")
    with consumer(broker.bootstrap_servers) as reader:
        reader.assign([part])
        reader.seek(part, 999)
        assert [record.offset for record in read(reader, 1)] == [0]
    with consumer(broker.bootstrap_servers, auto_offset_reset="none") as reader:
        reader.assign([part])
        reader.seek(part, 999)
        with pytest.raises(OffsetOutOfRangeError):
            read(reader, 1)


def test_a_producer_creates_the_topic_that_it_names(
    broker_with: Callable[[dict[str, str]], EmbeddedBroker], name: str
) -> None:
    broker = broker_with({"num.partitions": "4"})
    with producer(broker.bootstrap_servers) as client:
        send(client, name, b"v")
        assert client.partitions_for(name) == {0, 1, 2, 3}


def test_an_unknown_topic_is_an_error_where_topics_are_not_created_by_themselves(
    broker_with: Callable[[dict[str, str]], EmbeddedBroker], name: str
) -> None:
    broker = broker_with({"auto.create.topics.enable": "false"})
    with producer(broker.bootstrap_servers, max_block_ms=1000) as client, pytest.raises(KafkaTimeoutError):
        send(client, name, b"v")
    with admin(broker.bootstrap_servers) as manager:
        assert name not in manager.list_topics()


def test_a_topic_that_was_deleted_and_made_again_is_empty(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    with producer(broker.bootstrap_servers) as client:
        send(client, name, b"old")
    with admin(broker.bootstrap_servers) as manager:
        manager.delete_topics([name])
        assert name not in manager.list_topics()
        with pytest.raises(UnknownTopicOrPartitionError):
            manager.delete_topics([name])
    create_topic(broker.bootstrap_servers, name)
    with producer(broker.bootstrap_servers) as client:
        send(client, name, b"new")
    assert [record.value for record in read_all(broker.bootstrap_servers, name)] == [b"new"]
