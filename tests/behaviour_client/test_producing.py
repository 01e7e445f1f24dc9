"""What our producer writes, as confluent-kafka reads it."""

import itertools
import re
import threading
import time
from typing import Any

import confluent_kafka
import pytest

from fencepost.client import Producer, RecordFuture, RecordMetadata
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import BufferExhausted, IllegalState, RecordTooLarge, Timeout, UnknownTopicOrPartition
from fencepost.client.serializers import SerializationError, serialize_integer, serialize_string
from fencepost.server.embedded import EmbeddedBroker
from tests.behaviour_client.conftest import one_broker, two_brokers
from tests.behaviour_client.reading import client_threads, read_topic, values

pytestmark = one_broker
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
# Nulls and empties in every place, a header twice, text beyond ASCII, and enough bytes for a codec to bite on.
SAMPLES: list[tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...], int]] = [
    (b"key", b"value", (("a", b"1"), ("a", b"2"), ("ü", b"\x00\xff")), 1_700_000_000_000),
    (None, b"no key", (), 1_700_000_000_001),
    (b"tombstone", None, (("null", None),), 1_700_000_000_002),
    (b"", b"", (("empty", b""),), 1_700_000_000_003),
    (b"k", b"0123456789abcdef" * 4096, (), 1_600_000_000_000),
    *((b"key-%d" % n, b"value-%d" % n, (), 1_700_000_001_000 + n) for n in range(100)),
]


@two_brokers
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_records_are_read_by_confluent_kafka_as_they_were_sent(servers: str, topic: str, compression: str) -> None:
    with Producer(servers, compression_type=compression) as producer:
        futures = [
            producer.send(topic, value=value, key=key, partition=1, headers=headers, timestamp_ms=timestamp_ms)
            for key, value, headers, timestamp_ms in SAMPLES
        ]
        metadata = [future.result(30) for future in futures]
    read = read_topic(servers, topic)
    assert [(one.key, one.value, one.headers, one.timestamp_ms) for one in read] == SAMPLES
    assert metadata == [RecordMetadata(topic, one.partition, one.offset, one.timestamp_ms) for one in read]


def test_a_record_that_waits_for_metadata_gets_its_time_afterwards(
    servers: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Producer(servers) as producer:
        look_up, pause_s = producer._topic, 0.2

        def slowly(*arguments: Any) -> Any:
            time.sleep(pause_s)
            return look_up(*arguments)

        monkeypatch.setattr(producer, "_topic", slowly)
        began_ms = time.time_ns() // 1_000_000
        assert producer.send(topic, b"late").result(30).timestamp_ms >= began_ms + pause_s * 1000


def test_keys_land_where_confluent_kafka_puts_them(servers: str, admin: Admin, name: str) -> None:
    keys = [b"", b"a", b"21", b"foobar", b"abc", *(b"key-%d" % number for number in range(200))]
    for topic in (f"{name}-ours", f"{name}-theirs"):
        admin.create_topic(topic, 7, 1)
    with Producer(servers) as producer:
        for key in keys:
            producer.send(f"{name}-ours", value=key, key=key)
    theirs = confluent_kafka.Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for key in keys:
        theirs.produce(f"{name}-theirs", value=key, key=key)
    assert theirs.flush(30) == 0
    placed = {(one.key, one.partition) for one in read_topic(servers, f"{name}-ours")}
    assert placed == {(one.key, one.partition) for one in read_topic(servers, f"{name}-theirs")}
    assert len(placed) == len(keys)


def test_records_without_a_key_use_all_partitions_and_keep_together(servers: str, topic: str) -> None:
    with Producer(servers, batch_size=1000, linger_ms=50) as producer:
        for number in range(300):
            producer.send(topic, value=b"%0100d" % number)
    read = read_topic(servers, topic)
    assert {one.partition for one in read} == {0, 1, 2}
    by_number = sorted((int(one.value or b""), one.partition) for one in read)
    changes = sum(1 for one, other in itertools.pairwise(by_number) if one[1] != other[1])
    assert changes <= 60


def test_a_thousand_records_of_many_threads_arrive_once_and_in_the_order_of_each_thread(
    servers: str, topic: str
) -> None:
    def send_all(producer: Producer, thread: int) -> None:
        for number in range(250):
            producer.send(topic, value=b"%d %d" % (thread, number), partition=thread % 3)

    with Producer(servers, batch_size=500, linger_ms=1) as producer:
        threads = [threading.Thread(target=send_all, args=(producer, thread)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        producer.flush()
    found = [tuple(map(int, (value or b"").split())) for value in values(servers, topic)]
    assert len(found) == 1000
    for thread_number in range(4):
        numbers = [number for thread, number in found if thread == thread_number]
        assert numbers == list(range(250))


@two_brokers
@pytest.mark.parametrize("acks", ["all", "1"])
def test_a_plain_producer_is_told_offsets(servers: str, topic: str, acks: str) -> None:
    with Producer(servers, enable_idempotence=False, acks=acks) as producer:
        assert producer.send(topic, b"a", partition=0).result(30).offset == 0
        assert producer.send(topic, b"b", partition=0).result(30).offset == 1
    assert values(servers, topic) == [b"a", b"b"]


@two_brokers
def test_without_acknowledgement_nobody_says_where_a_record_is(servers: str, topic: str) -> None:
    with Producer(servers, enable_idempotence=False, acks="0") as producer:
        deadline = time.monotonic() + 30
        while b"a" not in values(servers, topic):
            assert time.monotonic() < deadline
            assert producer.send(topic, b"a", partition=0).result(30).offset == -1


def test_serializers_make_bytes_and_others_are_refused(servers: str, topic: str) -> None:
    with Producer(servers, key_serializer=serialize_string, value_serializer=serialize_integer) as producer:
        producer.send(topic, value=-2, key="schlüssel", partition=0).result(30)
        producer.send(topic, value=None, key=None, partition=0).result(30)
        with pytest.raises(SerializationError, match="not a whole number"):
            producer.send(topic, value="text", partition=0)
    with Producer(servers) as producer, pytest.raises(SerializationError, match="key_serializer"):
        producer.send(topic, value="text")
    read = read_topic(servers, topic)
    assert [(one.key, one.value) for one in read] == [("schlüssel".encode(), b"\xff\xff\xff\xfe"), (None, None)]


def test_a_record_that_is_too_large_is_refused_before_it_is_sent(servers: str, topic: str) -> None:
    with Producer(servers, max_request_size=1000) as producer:
        with pytest.raises(RecordTooLarge, match=r"max\.request\.size=1000"):
            producer.send(topic, value=bytes(1000))
        producer.send(topic, value=bytes(800)).result(30)


@two_brokers
def test_a_record_that_the_topic_does_not_take_fails_alone(servers: str, admin: Admin, name: str) -> None:
    admin.create_topic(name, 1, 1, {"max.message.bytes": "2000"})
    with Producer(servers, linger_ms=0) as producer:
        producer.send(name, value=b"first").result(30)
        future = producer.send(name, value=bytes(5000))
        assert isinstance(future.exception(30), RecordTooLarge)
        producer.send(name, value=b"second").result(30)
    assert values(servers, name) == [b"first", b"second"]


def test_a_partition_that_is_not_there_is_named(servers: str, topic: str) -> None:
    with Producer(servers) as producer:
        with pytest.raises(IllegalState, match="has 3 partitions, there is no 3"):
            producer.send(topic, b"a", partition=3)
        assert producer.partitions_for(topic) == [0, 1, 2]


def test_callbacks_hear_of_each_record_and_may_send(servers: str, topic: str) -> None:
    heard: list[int] = []
    answered = threading.Event()

    def on_delivery(future: RecordFuture) -> None:
        heard.append(future.result().offset)
        if len(heard) == 1:
            producer.send(topic, b"second", partition=0).add_done_callback(on_delivery)
        else:
            answered.set()
        raise RuntimeError("a callback that fails is not the producer's problem")

    with Producer(servers) as producer:
        producer.send(topic, b"first", partition=0).add_done_callback(on_delivery)
        assert answered.wait(30)
    assert heard == [0, 1]


def test_flush_within_a_callback_is_refused_instead_of_waiting_for_itself(servers: str, topic: str) -> None:
    problems: list[BaseException] = []
    answered = threading.Event()

    def on_delivery(future: RecordFuture) -> None:
        try:
            producer.flush()
        except IllegalState as problem:
            problems.append(problem)
        answered.set()

    with Producer(servers) as producer:
        producer.send(topic, b"first", partition=0).add_done_callback(on_delivery)
        assert answered.wait(30)
    assert "sender's thread" in str(problems[0])


def test_a_closed_producer_has_sent_everything_left_no_thread_and_refuses_more(servers: str, topic: str) -> None:
    before = client_threads()
    producer = Producer(servers, linger_ms=60_000)
    assert client_threads() - before
    future = producer.send(topic, b"a", partition=0)
    producer.close()
    producer.close()
    assert future.result(0).offset == 0
    assert not client_threads() - before
    with pytest.raises(IllegalState, match="closed"):
        producer.send(topic, b"b")


def test_memory_is_bounded_and_nothing_is_lost_by_waiting_for_it(servers: str, topic: str) -> None:
    with Producer(servers, buffer_memory=20_000, batch_size=1000, linger_ms=60_000) as producer:
        futures = [producer.send(topic, b"%0500d" % number, partition=0) for number in range(500)]
        assert not producer._outbox.accumulator.used_bytes > 20_000
        producer.flush()
        assert [future.result(0).offset for future in futures] == list(range(500))


def test_records_that_nobody_takes_are_told_why_and_so_is_who_waits_for_their_memory() -> None:
    with EmbeddedBroker() as broker:
        servers = broker.bootstrap_servers
        limits = {"delivery_timeout_ms": 5000, "buffer_memory": 20_000, "batch_size": 1000, "max_block_ms": 300}
        producer = Producer(servers, **limits)
        producer.send("orders", b"stored").result(30)
    with producer:
        futures = [producer.send("orders", bytes(500)) for _ in range(30)]
        with pytest.raises(BufferExhausted, match=rf"max.block.ms; the last try said: .*{servers}.*refused"):
            producer.send("orders", bytes(5000))
        with pytest.raises(Timeout, match=rf"still on their way; the last try said: .*{servers}.*refused"):
            producer.flush(0.1)
        error = futures[0].exception(30)
    assert isinstance(error, Timeout)
    assert "delivery.timeout.ms=5000" in str(error)
    assert re.search(rf"the last try said: .*{servers}.*refused", str(error))


def test_a_topic_that_nobody_may_create_is_waited_for_and_then_named(name: str) -> None:
    with (
        EmbeddedBroker(settings={"auto.create.topics.enable": "false"}) as broker,
        Producer(broker.bootstrap_servers, max_block_ms=300) as producer,
        pytest.raises(Exception, match=name) as raised,
    ):
        producer.send(name, b"a")
    assert isinstance(raised.value.__cause__, UnknownTopicOrPartition)
