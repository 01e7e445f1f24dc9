"""Where a consumer reads, and how the program moves it: seeks, pauses, offsets by time, commits, lag."""

import time
from typing import Any

import confluent_kafka
import pytest

from fencepost.client import Consumer, OffsetAndMetadata, TopicPartition
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import ClientError, CommitFailed, IllegalState, NoOffsetForPartition, OffsetOutOfRange
from fencepost.client.values import Offsets
from fencepost.settings import InvalidSetting
from tests.behaviour_client.conftest import one_broker, two_brokers
from tests.behaviour_client.consumer_reading import produce, read, run_transaction, transactional
from tests.interop.confluent.clients import admin, producer
from tests.interop.support import DEADLINE_S, wait_for

pytestmark = two_brokers


def reader(servers: str, topic: str, **settings: Any) -> Consumer:
    consumer = Consumer(servers, **{"auto_offset_reset": "earliest", **settings})
    consumer.assign([(topic, 0)])
    return consumer


def numbers(first: int, end: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, end)]


def test_seeks_go_anywhere_while_a_fetch_waits_at_the_end(servers: str, topic: str) -> None:
    produce(servers, topic, numbers(0, 50))
    with reader(servers, topic, fetch_max_wait_ms=10_000) as consumer:
        assert len(read(consumer, 50)) == 50
        assert consumer.poll(0.05) == []
        started = time.monotonic()
        consumer.seek((topic, 0), 47)
        assert [record.value for record in read(consumer, 3)] == numbers(47, 50)
        assert time.monotonic() - started < 5, "a seek does not wait for the long poll of an earlier fetch"
        consumer.seek_to_beginning()
        assert read(consumer, 50)[0].offset == 0
        consumer.seek_to_end()
        assert consumer.position((topic, 0)) == 50
        produce(servers, topic, numbers(50, 52))
        assert [record.value for record in read(consumer, 2)] == numbers(50, 52)


@one_broker
def test_a_seek_in_the_middle_of_an_iteration_takes_effect_with_the_next_record(servers: str, topic: str) -> None:
    produce(servers, topic, numbers(0, 20))
    with reader(servers, topic) as consumer:
        seen = []
        for record in consumer:
            seen.append(record.offset)
            if len(seen) == 3:
                consumer.seek((topic, 0), 10)
            if len(seen) == 5:
                break
        assert seen == [0, 1, 2, 10, 11]
        assert consumer.position((topic, 0)) == 12
        assert read(consumer, 1)[0].offset == 12


@one_broker
def test_a_paused_partition_is_silent_and_loses_nothing(servers: str, topic: str) -> None:
    for partition in range(3):
        produce(servers, topic, numbers(0, 10), partition=partition)
    with Consumer(servers, topic, auto_offset_reset="earliest", max_poll_records=4) as consumer:
        consumer.pause([(topic, 1)])
        records = read(consumer, 20)
        assert {record.partition for record in records} == {0, 2}
        assert consumer.poll(0.1) == []
        assert consumer.paused() == [TopicPartition(topic, 1)]
        consumer.resume()
        assert [record.value for record in read(consumer, 10)] == numbers(0, 10)


def test_offsets_are_found_by_time(servers: str, topic: str) -> None:
    client = producer(servers)
    for number in range(10):
        client.produce(topic, b"%d" % number, timestamp=1_700_000_000_000 + number * 1000, partition=0)
    assert client.flush(DEADLINE_S) == 0
    with reader(servers, topic) as consumer:
        where = TopicPartition(topic, 0)
        found = consumer.offsets_for_times({where: 1_700_000_003_500})[where]
        assert found == (4, 1_700_000_004_000)
        assert consumer.offsets_for_times({where: 1_800_000_000_000}) == {where: None}
        assert consumer.beginning_offsets([where]) == {where: 0}
        assert consumer.end_offsets([where]) == {where: 10}
        assert consumer.partitions_for(topic) == [TopicPartition(topic, index) for index in range(3)]


@one_broker
@pytest.mark.parametrize(("policy", "expected"), [("earliest", 0), ("latest", 5)])
def test_a_position_out_of_range_is_reset_as_the_settings_say(
    servers: str, topic: str, policy: str, expected: int
) -> None:
    produce(servers, topic, numbers(0, 5))
    with reader(servers, topic, auto_offset_reset=policy) as consumer:
        consumer.seek((topic, 0), 1000)
        wait_for("the reset", lambda: consumer.poll(0.05) is not None and consumer.position((topic, 0)) <= 5)
        wait_for("the end", lambda: consumer.poll(0.05) == [] and consumer.position((topic, 0)) == 5)
        consumer.seek((topic, 0), 1000)
        records = [] if policy == "latest" else read(consumer, 5)
        assert [record.offset for record in records] == list(range(expected, 5))


@one_broker
def test_without_a_reset_policy_trouble_is_raised_until_the_program_seeks(servers: str, topic: str) -> None:
    produce(servers, topic, numbers(0, 5))
    with reader(servers, topic, auto_offset_reset="none", group_id=topic) as consumer:
        for _ in range(2):
            with pytest.raises(NoOffsetForPartition, match=topic):
                consumer.poll(DEADLINE_S)
        consumer.seek((topic, 0), 4)
        assert [record.value for record in read(consumer, 1)] == numbers(4, 5)
        consumer.seek((topic, 0), 77)
        for _ in range(2):
            with pytest.raises(OffsetOutOfRange, match="77"):
                consumer.poll(DEADLINE_S)
        consumer.seek((topic, 0), 0)
        assert len(read(consumer, 5)) == 5


def test_commits_are_what_the_next_reader_begins_with(servers: str, topic: str) -> None:
    produce(servers, topic, numbers(0, 10))
    where = TopicPartition(topic, 0)
    with reader(servers, topic, group_id=topic) as consumer:
        assert consumer.committed([where]) == {where: None}
        assert len(read(consumer, 10)) == 10
        consumer.commit_sync({where: OffsetAndMetadata(7, "a word")})
        assert consumer.committed() == {where: OffsetAndMetadata(7, "a word")}
        consumer.seek_to_committed()
        assert [record.value for record in read(consumer, 3)] == numbers(7, 10)
    with reader(servers, topic, group_id=topic) as consumer:
        assert consumer.position(where) == 7


def test_asynchronous_commits_keep_their_order_and_call_back(servers: str, topic: str) -> None:
    where = TopicPartition(topic, 0)
    told: list[tuple[Offsets, ClientError | None]] = []
    with reader(servers, topic, group_id=topic) as consumer:
        for offset in range(1, 20):
            consumer.commit_async({where: offset}, on_commit=lambda *answer: told.append(answer))
        consumer.commit_sync({where: 20})
        assert [(dict(offsets), problem) for offsets, problem in told] == [
            ({where: OffsetAndMetadata(offset)}, None) for offset in range(1, 20)
        ]
        consumer.commit_async({where: 21}, on_commit=lambda *answer: told.append(answer))
        wait_for("the callback", lambda: consumer.poll(0.05) or len(told) == 20)
        assert consumer.committed() == {where: OffsetAndMetadata(21)}


@one_broker
def test_going_back_without_a_commit_goes_to_where_reading_began(servers: str, topic: str) -> None:
    """Not to `latest` as it is by then: what an aborted transaction had read would be skipped."""
    produce(servers, topic, numbers(0, 3))
    with reader(servers, topic, group_id=topic, auto_offset_reset="latest") as consumer:
        assert consumer.position((topic, 0)) == 3
        produce(servers, topic, numbers(3, 6))
        assert [record.value for record in read(consumer, 3)] == numbers(3, 6)
        assert consumer.consumed_offsets() == {(topic, 0): OffsetAndMetadata(6)}
        consumer.seek_to_committed()
        assert consumer.consumed_offsets() == {}
        assert [record.value for record in read(consumer, 3)] == numbers(3, 6)


def test_lag_counts_the_records_that_are_still_to_come(servers: str, topic: str) -> None:
    where = TopicPartition(topic, 0)
    writer = transactional(servers, topic)
    with reader(servers, topic) as consumer, reader(servers, topic, isolation_level="read_uncommitted") as all_of_it:
        assert consumer.lag() == {where: 0}
        produce(servers, topic, numbers(0, 10))
        run_transaction(writer, lambda it: [it.produce(topic, b"c", partition=0) for _ in range(5)], is_commit=True)
        run_transaction(writer, lambda it: [it.produce(topic, b"a", partition=0) for _ in range(7)], is_commit=False)
        produce(servers, topic, numbers(10, 12))
        wait_for("both markers", lambda: consumer.end_offsets([where])[where] == 26)
        assert consumer.lag() == {where: 17}
        assert all_of_it.lag() == {where: 24}
        consumer.seek(where, 3)
        assert consumer.lag() == {where: 14}, "the position may lie inside a batch"
        assert len(read(consumer, 14)) == 14
        assert consumer.lag() == {where: 0}


def test_deleted_records_are_passed_over(servers: str, topic: str) -> None:
    produce(servers, topic, numbers(0, 10))
    client = admin(servers)
    for deleted in client.delete_records([confluent_kafka.TopicPartition(topic, 0, 6)]).values():
        deleted.result(DEADLINE_S)
    with reader(servers, topic) as consumer:
        assert consumer.beginning_offsets([(topic, 0)]) == {(topic, 0): 6}
        consumer.seek((topic, 0), 2)
        assert [record.value for record in read(consumer, 4)] == numbers(6, 10)


def test_partitions_that_are_added_are_shared_out_too(servers: str, topic: str) -> None:
    with (
        Consumer(servers, [topic], group_id=topic, auto_offset_reset="earliest", metadata_max_age_ms=100) as consumer,
        Admin(servers) as administrator,
    ):
        wait_for("three partitions", lambda: consumer.poll(0.05) or len(consumer.assignment()) == 3)
        administrator.create_partitions({topic: 5})
        wait_for("five partitions", lambda: consumer.poll(0.05) or len(consumer.assignment()) == 5)


@one_broker
def test_calls_out_of_order_say_what_to_do(servers: str, topic: str) -> None:
    with Consumer(servers) as consumer:
        with pytest.raises(IllegalState, match="group_id"):
            consumer.subscribe([topic])
        with pytest.raises(IllegalState, match="group_id"):
            consumer.commit_sync()
        with pytest.raises(IllegalState, match="not assigned"):
            consumer.seek((topic, 0), 0)
    with Consumer(servers, [topic], group_id=topic) as consumer:
        with pytest.raises(IllegalState, match="unsubscribe"):
            consumer.assign([(topic, 0)])
        consumer.unsubscribe()
        consumer.assign([(topic, 0)])
        with pytest.raises(IllegalState, match="unsubscribe"):
            consumer.subscribe([topic])


@one_broker
def test_offsets_of_a_consumer_that_commits_by_itself_are_not_for_transactions(servers: str, topic: str) -> None:
    with Consumer(servers, [topic], group_id=topic, enable_auto_commit=True) as consumer:
        assert consumer.commits_automatically
        with pytest.raises(IllegalState, match=r"enable\.auto\.commit"):
            consumer.group_metadata()
    with pytest.raises(InvalidSetting, match=r"group\.id"):
        Consumer(servers, enable_auto_commit=True)


def test_offsets_of_a_topic_that_was_deleted_are_not_committed_to_another_of_its_name(
    servers: str, topic: str, name: str
) -> None:
    produce(servers, topic, numbers(0, 5))
    with Admin(servers) as client, reader(servers, topic, group_id=name) as consumer:
        assert len(read(consumer, 5)) == 5
        consumer.commit_sync({(topic, 0): 2})
        client.delete_topics([topic])
        wait_for("the end of the topic", lambda: topic not in client.describe_topics())
        client.create_topic(topic, 3, 1)
        produce(servers, topic, numbers(5, 6))
        with pytest.raises(CommitFailed, match="created again"):
            consumer.commit_sync()
        assert consumer.committed() == {(topic, 0): None}
        assert [record.value for record in read(consumer, 1)] == numbers(5, 6)
        consumer.commit_sync()
        assert consumer.committed() == {(topic, 0): OffsetAndMetadata(1)}
