"""Records through aiokafka: codecs, partitions of keys, headers, nulls, timestamps, acks, sizes, topics."""

import time
from collections.abc import Callable

import pytest
from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, OffsetOutOfRangeError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.aiokafka.clients import admin, consumer, create_topic, in_event_loop, producer, read, read_all
from tests.interop.support import COMPRESSIONS, MURMUR2_OF_KEY, SAMPLES, Sample, apache_partition

CREATE_TIME, LOG_APPEND_TIME = 0, 1


def as_sample(record: ConsumerRecord) -> Sample:
    assert record.timestamp_type == CREATE_TIME
    return Sample(record.key, record.value, tuple(record.headers), record.timestamp)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@in_event_loop
async def test_records_come_back_as_they_were_sent_with_each_codec(
    broker: EmbeddedBroker, name: str, compression: str
) -> None:
    await create_topic(broker.bootstrap_servers, name)
    codec = None if compression == "none" else compression
    async with producer(broker.bootstrap_servers, compression_type=codec, linger_ms=5) as client:
        for sample in SAMPLES:
            await client.send(
                name, sample.value, sample.key, headers=list(sample.headers), timestamp_ms=sample.timestamp_ms
            )
        await client.flush()
    records = await read_all(broker.bootstrap_servers, name)
    assert [as_sample(record) for record in records] == SAMPLES
    assert [record.offset for record in records] == list(range(len(SAMPLES)))


@in_event_loop
async def test_keys_land_on_the_partitions_of_apache_kafka(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name, partitions=7)
    async with producer(broker.bootstrap_servers) as client:
        landed = {key: (await client.send_and_wait(name, b"v", key)).partition for key in MURMUR2_OF_KEY}
    assert landed == {key: apache_partition(key, 7) for key in MURMUR2_OF_KEY}
    records = await read_all(broker.bootstrap_servers, name, partitions=7)
    assert {record.key: record.partition for record in records} == landed


@in_event_loop
async def test_a_topic_may_stamp_records_with_the_time_of_the_append(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name, message_timestamp_type="LogAppendTime")
    before_ms = int(time.time() * 1000)
    async with producer(broker.bootstrap_servers) as client:
        sent = await client.send_and_wait(name, b"v", timestamp_ms=1_600_000_000_000)
    after_ms = int(time.time() * 1000)
    (record,) = await read_all(broker.bootstrap_servers, name)
    assert (record.timestamp_type, sent.timestamp_type) == (LOG_APPEND_TIME, LOG_APPEND_TIME)
    assert before_ms <= record.timestamp <= after_ms
    assert sent.timestamp == record.timestamp


@pytest.mark.parametrize("acks", [0, 1, "all"])
@in_event_loop
async def test_each_kind_of_acknowledgement_delivers(broker: EmbeddedBroker, name: str, acks: int | str) -> None:
    await create_topic(broker.bootstrap_servers, name)
    async with producer(broker.bootstrap_servers, acks=acks) as client:
        for number in range(50):
            await client.send(name, b"%d" % number)
        await client.flush()
    async with consumer(broker.bootstrap_servers) as reader:
        reader.assign([TopicPartition(name, 0)])
        assert [record.value for record in await read(reader, 50)] == [b"%d" % number for number in range(50)]


@in_event_loop
async def test_an_idempotent_producer_keeps_order(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name)
    async with producer(broker.bootstrap_servers, enable_idempotence=True, max_batch_size=100) as client:
        for number in range(1_000):
            await client.send(name, b"%d" % number)
        await client.flush()
    assert [int(record.value) for record in await read_all(broker.bootstrap_servers, name)] == list(range(1_000))


@in_event_loop
async def test_large_records_come_back_whole(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name, max_message_bytes="20000000")
    values = [bytes([number]) * 5_000_000 for number in range(3)]
    async with producer(broker.bootstrap_servers, max_request_size=20_000_000) as client:
        for value in values:
            await client.send_and_wait(name, value)
    assert [record.value for record in await read_all(broker.bootstrap_servers, name)] == values


@in_event_loop
async def test_a_record_above_the_limit_of_its_topic_is_refused_and_the_next_one_is_not(
    broker: EmbeddedBroker, name: str
) -> None:
    await create_topic(broker.bootstrap_servers, name, max_message_bytes="10000")
    async with producer(broker.bootstrap_servers) as client:
        with pytest.raises(MessageSizeTooLargeError):
            await client.send_and_wait(name, b"x" * 20_000)
        assert (await client.send_and_wait(name, b"small")).offset == 0


@in_event_loop
async def test_offsets_are_found_by_time(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name)
    part = TopicPartition(name, 0)
    async with producer(broker.bootstrap_servers) as client:
        for number in range(10):
            await client.send_and_wait(name, b"%d" % number, timestamp_ms=1_700_000_000_000 + 1000 * number)
    async with consumer(broker.bootstrap_servers) as reader:
        asked_ms = {0: 0, 1_700_000_003_000: 3, 1_700_000_003_001: 4, 1_700_000_009_000: 9}
        for timestamp_ms, offset in asked_ms.items():
            assert (await reader.offsets_for_times({part: timestamp_ms}))[part].offset == offset
        assert (await reader.offsets_for_times({part: 1_700_000_009_001}))[part] is None
        assert await reader.beginning_offsets([part]) == {part: 0}
        assert await reader.end_offsets([part]) == {part: 10}


@in_event_loop
async def test_an_offset_beyond_the_log_resets_or_errs_as_the_reader_asked(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name)
    part = TopicPartition(name, 0)
    async with producer(broker.bootstrap_servers) as client:
        await client.send_and_wait(name, b"first")
    async with consumer(broker.bootstrap_servers) as reader:
        reader.assign([part])
        reader.seek(part, 999)
        assert [record.offset for record in await read(reader, 1)] == [0]
    async with consumer(broker.bootstrap_servers, auto_offset_reset="none") as reader:
        reader.assign([part])
        reader.seek(part, 999)
        with pytest.raises(OffsetOutOfRangeError):
            await reader.getone()


@in_event_loop
async def test_a_producer_creates_the_topic_that_it_names(
    broker_with: Callable[[dict[str, str]], EmbeddedBroker], name: str
) -> None:
    broker = broker_with({"num.partitions": "4"})
    async with producer(broker.bootstrap_servers) as client:
        await client.send_and_wait(name, b"v")
        assert await client.partitions_for(name) == {0, 1, 2, 3}


@in_event_loop
async def test_an_unknown_topic_is_an_error_where_topics_are_not_created_by_themselves(
    broker_with: Callable[[dict[str, str]], EmbeddedBroker], name: str
) -> None:
    broker = broker_with({"auto.create.topics.enable": "false"})
    async with producer(broker.bootstrap_servers, request_timeout_ms=1000) as client:
        with pytest.raises(KafkaError):
            await client.send_and_wait(name, b"v")
    async with admin(broker.bootstrap_servers) as manager:
        assert name not in await manager.list_topics()


@in_event_loop
async def test_a_topic_that_was_deleted_and_made_again_is_empty(broker: EmbeddedBroker, name: str) -> None:
    await create_topic(broker.bootstrap_servers, name)
    async with producer(broker.bootstrap_servers) as client:
        await client.send_and_wait(name, b"old")
    async with admin(broker.bootstrap_servers) as manager:
        await manager.delete_topics([name])
        assert name not in await manager.list_topics()
    await create_topic(broker.bootstrap_servers, name)
    async with producer(broker.bootstrap_servers) as client:
        await client.send_and_wait(name, b"new")
    assert [record.value for record in await read_all(broker.bootstrap_servers, name)] == [b"new"]
