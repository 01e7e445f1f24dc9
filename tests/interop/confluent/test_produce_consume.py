"""Records through librdkafka: codecs, partitions of keys, headers, nulls, timestamps, acks, sizes."""

import time

import pytest
from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    KafkaError,
    Message,
    TopicPartition,
)

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import (
    DeliveryFailed,
    consumer,
    create_topic,
    producer,
    read,
    read_all,
    send,
)
from tests.interop.support import COMPRESSIONS, DEADLINE_S, MURMUR2_OF_KEY, SAMPLES, Sample, apache_partition


def as_sample(message: Message) -> Sample:
    kind, timestamp_ms = message.timestamp()
    assert kind == TIMESTAMP_CREATE_TIME
    return Sample(message.key(), message.value(), tuple(message.headers() or ()), timestamp_ms)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_records_come_back_as_they_were_sent_with_each_codec(
    broker: EmbeddedBroker, name: str, compression: str
) -> None:
    client = producer(broker.bootstrap_servers, compression_type=compression, enable_idempotence=True)
    create_topic(broker.bootstrap_servers, name)
    for sample in SAMPLES:
        client.produce(
            name, sample.value, sample.key, headers=list(sample.headers), timestamp=sample.timestamp_ms, partition=0
        )
    assert client.flush(DEADLINE_S) == 0
    messages = read_all(broker.bootstrap_servers, name, check_crcs=True)
    assert [as_sample(message) for message in messages] == SAMPLES
    assert [message.offset() for message in messages] == list(range(len(SAMPLES)))


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_a_topic_with_a_codec_of_its_own_serves_records_in_it(
    broker: EmbeddedBroker, name: str, compression: str
) -> None:
    create_topic(broker.bootstrap_servers, name, config={"compression.type": compression})
    client = producer(broker.bootstrap_servers, compression_type="none")
    for sample in SAMPLES:
        client.produce(name, sample.value, sample.key, headers=list(sample.headers), timestamp=sample.timestamp_ms)
    assert client.flush(DEADLINE_S) == 0
    assert [as_sample(message) for message in read_all(broker.bootstrap_servers, name)] == SAMPLES


def test_keys_land_on_the_partitions_of_apache_kafka(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, partitions=7)
    client = producer(broker.bootstrap_servers, partitioner="murmur2_random")
    landed = {key: send(client, name, b"v", key=key).partition() for key in MURMUR2_OF_KEY}
    assert landed == {key: apache_partition(key, 7) for key in MURMUR2_OF_KEY}
    messages = read_all(broker.bootstrap_servers, name, partitions=7)
    assert {message.key(): message.partition() for message in messages} == landed


def test_a_topic_may_stamp_records_with_the_time_of_the_append(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, config={"message.timestamp.type": "LogAppendTime"})
    client = producer(broker.bootstrap_servers)
    before_ms = int(time.time() * 1000)
    sent = send(client, name, b"v", timestamp=1_600_000_000_000)
    after_ms = int(time.time() * 1000)
    (message,) = read_all(broker.bootstrap_servers, name)
    kind, timestamp_ms = message.timestamp()
    assert kind == TIMESTAMP_LOG_APPEND_TIME
    assert before_ms <= timestamp_ms <= after_ms
    assert sent.timestamp() == (TIMESTAMP_LOG_APPEND_TIME, timestamp_ms)


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_each_kind_of_acknowledgement_delivers(broker: EmbeddedBroker, name: str, acks: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    client = producer(broker.bootstrap_servers, acks=acks)
    for number in range(50):
        client.produce(name, b"%d" % number)
    assert client.flush(DEADLINE_S) == 0
    with consumer(broker.bootstrap_servers) as reader:
        reader.assign([TopicPartition(name, 0, 0)])
        assert [message.value() for message in read(reader, 50)] == [b"%d" % number for number in range(50)]


def test_an_idempotent_producer_with_five_requests_in_flight_keeps_order(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    client = producer(broker.bootstrap_servers, enable_idempotence=True, batch_num_messages=10)
    for number in range(2_000):
        client.produce(name, b"%d" % number)
    assert client.flush(DEADLINE_S) == 0
    values = [int(message.value()) for message in read_all(broker.bootstrap_servers, name)]
    assert values == list(range(2_000))


def test_large_records_come_back_whole(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name, config={"max.message.bytes": "20000000"})
    client = producer(broker.bootstrap_servers, message_max_bytes=20_000_000)
    values = [bytes([number]) * 5_000_000 for number in range(3)]
    for value in values:
        client.produce(name, value)
    assert client.flush(DEADLINE_S) == 0
    assert [message.value() for message in read_all(broker.bootstrap_servers, name)] == values


def test_a_record_above_the_limit_of_its_topic_is_refused_and_the_next_one_is_not(
    broker: EmbeddedBroker, name: str
) -> None:
    create_topic(broker.bootstrap_servers, name, config={"max.message.bytes": "10000"})
    client = producer(broker.bootstrap_servers, enable_idempotence=False)
    with pytest.raises(DeliveryFailed) as refused:
        send(client, name, b"x" * 20_000)
    assert refused.value.code == KafkaError.MSG_SIZE_TOO_LARGE
    assert send(client, name, b"small").offset() == 0


def test_offsets_are_found_by_time(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    client = producer(broker.bootstrap_servers)
    for number in range(10):
        send(client, name, b"%d" % number, timestamp=1_700_000_000_000 + 1000 * number)
    with consumer(broker.bootstrap_servers) as reader:
        asked_ms = {0: 0, 1_700_000_003_000: 3, 1_700_000_003_001: 4, 1_700_000_009_000: 9}
        for timestamp_ms, offset in asked_ms.items():
            (found,) = reader.offsets_for_times([TopicPartition(name, 0, timestamp_ms)], timeout=DEADLINE_S)
            assert found.offset == offset
        (none,) = reader.offsets_for_times([TopicPartition(name, 0, 1_700_000_009_001)], timeout=DEADLINE_S)
        assert none.offset == -1
        assert reader.get_watermark_offsets(TopicPartition(name, 0), timeout=DEADLINE_S) == (0, 10)


def test_an_offset_beyond_the_log_resets_or_errs_as_the_reader_asked(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    send(producer(broker.bootstrap_servers), name, b"first")
    with consumer(broker.bootstrap_servers, auto_offset_reset="earliest") as reader:
        reader.assign([TopicPartition(name, 0, 999)])
        assert [message.offset() for message in read(reader, 1)] == [0]
    with consumer(broker.bootstrap_servers, auto_offset_reset="error") as reader:
        reader.assign([TopicPartition(name, 0, 999)])
        message = reader.poll(DEADLINE_S)
        assert message is not None
        assert message.error().code() == KafkaError._AUTO_OFFSET_RESET
