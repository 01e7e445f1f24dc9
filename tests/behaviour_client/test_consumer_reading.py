"""What confluent-kafka wrote, our consumer reads: every codec, every null, of transactions exactly the committed."""

import os
import random
import threading
from collections import Counter

import pytest

from fencepost.client import Consumer, TopicPartition
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import (
    ClientError,
    IllegalState,
    RecordDeserialization,
    Timeout,
    UnknownTopicOrPartition,
)
from fencepost.client.serializers import deserialize_integer, deserialize_string
from tests.behaviour_client.conftest import all_brokers, one_broker, two_brokers
from tests.behaviour_client.consumer_reading import produce, read, read_all, run_transaction, transactional
from tests.behaviour_client.reading import client_threads
from tests.interop.confluent.clients import producer
from tests.interop.support import COMPRESSIONS, DEADLINE_S, SAMPLES, wait_for

pytestmark = two_brokers


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_records_are_read_as_they_were_written(servers: str, topic: str, compression: str) -> None:
    client = producer(servers, compression_type=compression)
    for sample in SAMPLES:
        client.produce(
            topic, sample.value, sample.key, headers=list(sample.headers), timestamp=sample.timestamp_ms, partition=1
        )
    assert client.flush(DEADLINE_S) == 0
    records = read_all(servers, topic)
    assert [(r.key, r.value, r.headers, r.timestamp_ms) for r in records] == [tuple(sample) for sample in SAMPLES]
    assert [(r.topic, r.partition, r.offset) for r in records] == [(topic, 1, n) for n in range(len(SAMPLES))]


@one_broker
def test_iteration_hands_out_the_same_records_as_poll(servers: str, topic: str) -> None:
    for partition in range(3):
        produce(servers, topic, [b"%d" % number for number in range(700)], partition=partition)
    polled = read_all(servers, topic)
    with Consumer(servers, topic, auto_offset_reset="earliest") as consumer:
        iterated = [record for _, record in zip(range(len(polled)), consumer, strict=False)]
        assert all(consumer.position((topic, partition)) == 700 for partition in range(3))
    assert len(polled) == 2100
    assert sorted(iterated) == sorted(polled)


@all_brokers
@pytest.mark.parametrize("seed", range(3))
def test_committed_transactions_are_read_and_aborted_ones_are_not(servers: str, topic: str, seed: int) -> None:
    """Many transactions of several producers, interleaved on three partitions, with plain records between them."""
    chance = random.Random(seed)
    plain = producer(servers)
    writers = [transactional(servers, f"{topic}-{number}") for number in range(3)]
    kept: Counter[bytes] = Counter()
    everything: Counter[bytes] = Counter()
    running: dict[int, list[bytes]] = {}
    for step in range(120):
        number = chance.randrange(4)
        value, partition = b"%d" % step, chance.randrange(3)
        everything[value] += 1
        if number == 3:
            plain.produce(topic, value, partition=partition)
            assert plain.flush(DEADLINE_S) == 0
            kept[value] += 1
            continue
        if number not in running:
            writers[number].begin_transaction()
            running[number] = []
        writers[number].produce(topic, value, partition=partition)
        assert writers[number].flush(DEADLINE_S) == 0
        running[number].append(value)
        if chance.random() < 0.4:
            _end(writers[number], running.pop(number), kept, is_commit=chance.random() < 0.5)
    for number, values in running.items():
        _end(writers[number], values, kept, is_commit=chance.random() < 0.5)
    for reader in (read_all(servers, topic), read_all(servers, topic, max_partition_fetch_bytes=300)):
        assert Counter(record.value for record in reader) == kept
        assert [(r.partition, r.offset) for r in sorted(reader)] == sorted((r.partition, r.offset) for r in reader)
    uncommitted = read_all(servers, topic, isolation_level="read_uncommitted")
    assert Counter(record.value for record in uncommitted) == everything


def _end(writer: object, values: list[bytes], kept: Counter[bytes], *, is_commit: bool) -> None:
    (writer.commit_transaction if is_commit else writer.abort_transaction)(DEADLINE_S)  # type: ignore[attr-defined]
    if is_commit:
        kept.update(values)


def test_a_committed_reader_waits_before_an_open_transaction_and_goes_on_when_it_ends(servers: str, topic: str) -> None:
    writer = transactional(servers, topic)
    produce(servers, topic, [b"before"])
    writer.begin_transaction()
    writer.produce(topic, b"open", partition=0)
    assert writer.flush(DEADLINE_S) == 0
    produce(servers, topic, [b"after"])
    with Consumer(servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        assert [record.value for record in read(consumer, 1)] == [b"before"]
        assert consumer.end_offsets([(topic, 0)]) == {(topic, 0): 1}
        assert consumer.poll(0.2) == []
        assert consumer.position((topic, 0)) == 1
        writer.commit_transaction(DEADLINE_S)
        assert [record.value for record in read(consumer, 2)] == [b"open", b"after"]


def test_the_position_moves_past_what_is_not_delivered(servers: str, topic: str) -> None:
    writer = transactional(servers, topic)
    run_transaction(writer, lambda it: it.produce(topic, b"aborted", partition=0), is_commit=False)
    with Consumer(servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        end = wait_for("the end of the transaction", lambda: consumer.end_offsets([(topic, 0)])[(topic, 0)])
        assert end == 2
        wait_for("the end", lambda: consumer.poll(0.1) == [] and consumer.position((topic, 0)) == 2)


@one_broker
def test_keys_and_values_are_deserialized(servers: str, topic: str) -> None:
    client = producer(servers)
    client.produce(topic, (-7).to_bytes(4, "big", signed=True), "schlüssel".encode(), partition=0)
    client.produce(topic, None, None, partition=0)
    client.produce(topic, b"odd", b"k", partition=0)
    assert client.flush(DEADLINE_S) == 0
    with Consumer(
        servers,
        auto_offset_reset="earliest",
        key_deserializer=deserialize_string,
        value_deserializer=deserialize_integer,
    ) as consumer:
        consumer.assign([(topic, 0)])
        assert [(r.key, r.value) for r in read(consumer, 2)] == [("schlüssel", -7), (None, None)]
        with pytest.raises(RecordDeserialization, match="offset 2"):
            consumer.poll(5.0)
        consumer.seek((topic, 0), 3)
        assert consumer.poll(0.1) == []


def test_a_topic_that_does_not_exist_yet_is_read_when_it_does(servers: str, name: str) -> None:
    with Consumer(servers, auto_offset_reset="earliest", allow_auto_create_topics=False) as consumer:
        consumer.assign([(name, 0)])
        assert consumer.poll(0.2) == []
        with pytest.raises((UnknownTopicOrPartition, Timeout)):
            consumer.partitions_for(name, timeout=0.2)
        produce(servers, name, [b"first"])
        assert [record.value for record in read(consumer, 1)] == [b"first"]


def test_a_topic_that_was_deleted_and_created_again_is_read_from_its_beginning(servers: str, topic: str) -> None:
    produce(servers, topic, [b"old 1", b"old 2", b"old 3"])
    with Consumer(servers, auto_offset_reset="earliest") as consumer, Admin(servers) as admin:
        consumer.assign([(topic, 0)])
        assert len(read(consumer, 3)) == 3
        admin.delete_topics([topic])
        wait_for("the topic to be gone", lambda: _is_created(admin, topic))
        produce(servers, topic, [b"new 1", b"new 2", b"new 3", b"new 4", b"new 5"])
        assert [record.value for record in read(consumer, 5)] == [b"new 1", b"new 2", b"new 3", b"new 4", b"new 5"]


def _is_created(admin: Admin, topic: str) -> bool:
    try:
        admin.create_topic(topic, 1, 1)
    except ClientError:
        return False
    return True


@one_broker
def test_only_one_thread_may_use_a_consumer(servers: str, topic: str) -> None:
    with Consumer(servers, topic) as consumer:
        refused: list[BaseException] = []
        inside = threading.Event()

        def intrude() -> None:
            inside.wait()
            try:
                consumer.poll(0)
            except IllegalState as problem:
                refused.append(problem)
            consumer.wakeup()

        other = threading.Thread(target=intrude)
        other.start()
        keep_house = consumer._core.keep_house
        consumer._core.keep_house = lambda: (inside.set(), keep_house())  # type: ignore[assignment,func-returns-value]
        consumer.poll(1.0)
        other.join()
        assert len(refused) == 1


@one_broker
def test_no_thread_and_no_descriptor_is_left_after_close(servers: str, topic: str) -> None:
    produce(servers, topic, [b"x"])
    threads, descriptors = client_threads(), os.listdir("/proc/self/fd")
    with Consumer(servers, [topic], group_id=topic, auto_offset_reset="earliest") as consumer:
        read(consumer, 1)
        assert client_threads() - threads
    assert not client_threads() - threads
    wait_for("the broker's ends to close too", lambda: len(os.listdir("/proc/self/fd")) <= len(descriptors))
    with pytest.raises(IllegalState, match="closed"):
        consumer.poll(0)
    assert list(consumer) == []


@one_broker
def test_a_forked_child_makes_its_own_consumer_and_leaves_the_parents_alone(servers: str, topic: str) -> None:
    produce(servers, topic, [b"1", b"2"])
    with Consumer(servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([(topic, 0)])
        assert len(read(consumer, 2)) == 2
        child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    consumer.poll(0)
                except IllegalState:
                    consumer.close()
                    code = 0 if [r.value for r in read_all(servers, topic)] == [b"1", b"2"] else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        produce(servers, topic, [b"3"])
        assert [record.value for record in read(consumer, 1)] == [b"3"]
        assert consumer.assignment() == [TopicPartition(topic, 0)]
