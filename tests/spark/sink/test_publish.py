"""Pinned batches on their way to partitions: which lane they take, and that each partition keeps their order."""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from fencepost.client import Admin
from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError, IllegalState, Timeout
from fencepost.client.producer.sender import Sender
from fencepost.client.raw_producer import RawProducer
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ProducerIdentity
from fencepost.records.builder import build_batch
from fencepost.records.record import InvalidRecordBatch, Record
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink.errors import GaveUp
from fencepost.spark.sink.publish import LANE_BYTES, Lanes, PinnedBatch, Publisher, _stamped
from fencepost.spark.sink.transactional_sink import LANE_COUNT_MAX, TransactionalSink
from fencepost.types import TopicPartition
from tests.behaviour_client.reading import client_threads, read_topic
from tests.interop.support import wait_for

PARTITIONS = [TopicPartition("out", partition) for partition in range(4)]
NAME = "lanes"
TIMEOUT_S = 30.0
LARGE_BYTES = LANE_BYTES // 2
"""Of a record: two of them fill a lane."""


def test_a_small_transaction_takes_one_lane() -> None:
    lanes = Lanes(LANE_COUNT_MAX)
    assert {lanes.lane(where, LANE_BYTES // 8) for where in PARTITIONS * 2} == {0}


def test_the_partitions_of_a_large_one_are_shared_out_and_each_keeps_its_lane() -> None:
    lanes = Lanes(LANE_COUNT_MAX)
    first = {where: lanes.lane(where, LANE_BYTES) for where in PARTITIONS}
    assert Counter(first.values()) == {lane: len(PARTITIONS) // LANE_COUNT_MAX for lane in range(LANE_COUNT_MAX)}
    assert {where: lanes.lane(where, 10 * LANE_BYTES) for where in PARTITIONS} == first


def test_a_new_partition_takes_the_lane_with_the_fewest_bytes() -> None:
    lanes = Lanes(LANE_COUNT_MAX)
    crowded = lanes.lane(PARTITIONS[0], 10 * LANE_BYTES)
    others = {lanes.lane(where, LANE_BYTES) for where in PARTITIONS[1:]}
    assert others == {1 - crowded}


@pytest.fixture
def control(cluster: str) -> Iterator[TransactionControl]:
    yield from _control(cluster)


@pytest.fixture
def own_control(servers: str) -> Iterator[TransactionControl]:
    """The same where it is enough to look at our broker."""
    yield from _control(servers)


def _control(servers: str) -> Iterator[TransactionControl]:
    with Admin(servers) as admin:
        admin.create_topic("out", len(PARTITIONS), 1)
    opened = Cluster(servers, ClientSettings())
    yield TransactionControl(opened, NAME)
    opened.close()


def begin(control: TransactionControl, presented: ProducerIdentity | None = None) -> ProducerIdentity:
    identity = control.init_producer_id(
        transaction_timeout_ms=60_000, presented=presented, deadline=Deadline(TIMEOUT_S)
    )
    if not control.uses_v2:
        control.add_partitions(identity, PARTITIONS, deadline=Deadline(TIMEOUT_S))
    return identity


def pinned(value_bytes: int) -> list[PinnedBatch]:
    """Three batches of two records for each partition, as encoders leave them: of no producer."""
    return [
        (where, build_batch([Record(value=_value(turn, index, value_bytes), timestamp_ms=0) for index in range(2)]))
        for turn in range(3)
        for where in PARTITIONS
    ]


def _value(turn: int, index: int, value_bytes: int) -> bytes:
    return b"%d.%d" % (turn, index) + b"-" * value_bytes


@pytest.mark.parametrize(("value_bytes", "lane_count"), [(10, 1), (LARGE_BYTES, LANE_COUNT_MAX)])
def test_every_partition_gets_its_batches_in_their_order(
    cluster: str, control: TransactionControl, value_bytes: int, lane_count: int
) -> None:
    identity = begin(control)
    publisher = Publisher(KafkaOptions(cluster), NAME, lane_count_max=LANE_COUNT_MAX)
    try:
        counts = publisher.publish(identity, pinned(value_bytes), timeout_s=TIMEOUT_S)
        assert len(publisher._producers) == lane_count
    finally:
        publisher.close()
    assert counts == dict.fromkeys(PARTITIONS, 6)
    control.end_txn(identity, is_commit=True, deadline=Deadline(TIMEOUT_S))
    expected = [_value(turn, index, value_bytes) for turn in range(3) for index in range(2)]
    assert [record.value for record in read_topic(cluster, "out")] == expected * len(PARTITIONS)


def test_lanes_go_on_from_one_transaction_to_the_next(cluster: str, control: TransactionControl) -> None:
    publisher = Publisher(KafkaOptions(cluster), NAME, lane_count_max=LANE_COUNT_MAX)
    try:
        identity = begin(control)
        for _ in range(3):
            counts = publisher.publish(identity, pinned(LARGE_BYTES), timeout_s=TIMEOUT_S)
            assert counts == dict.fromkeys(PARTITIONS, 6)
            control.end_txn(identity, is_commit=True, deadline=Deadline(TIMEOUT_S))
            identity = begin(control, identity if not control.uses_v2 else None)
        assert len(publisher._producers) == LANE_COUNT_MAX
    finally:
        publisher.close()
    control.end_txn(identity, is_commit=False, deadline=Deadline(TIMEOUT_S))
    one = [_value(turn, index, LARGE_BYTES) for turn in range(3) for index in range(2)]
    assert [record.value for record in read_topic(cluster, "out")] == one * 3 * len(PARTITIONS)


def test_a_failure_closes_all_lanes_and_the_next_identity_begins_anew(
    cluster: str, control: TransactionControl
) -> None:
    threads = client_threads()
    zombie = begin(control)
    publisher = Publisher(KafkaOptions(cluster), NAME, lane_count_max=LANE_COUNT_MAX)
    try:
        publisher.publish(zombie, pinned(LARGE_BYTES), timeout_s=TIMEOUT_S)
        assert len(client_threads() - threads) == LANE_COUNT_MAX
        identity = begin(control)
        with pytest.raises(ClientError):
            publisher.publish(zombie, pinned(LARGE_BYTES), timeout_s=TIMEOUT_S)
        assert client_threads() == threads
        counts = publisher.publish(identity, pinned(10), timeout_s=TIMEOUT_S)
        assert counts == dict.fromkeys(PARTITIONS, 6)
    finally:
        publisher.close()
    control.end_txn(identity, is_commit=True, deadline=Deadline(TIMEOUT_S))
    expected = [_value(turn, index, 10) for turn in range(3) for index in range(2)]
    assert [record.value for record in read_topic(cluster, "out")] == expected * len(PARTITIONS)


@pytest.mark.parametrize("failing", range(LANE_COUNT_MAX))
def test_a_lane_that_cannot_be_closed_is_not_used_again_and_keeps_no_other_open(
    servers: str, own_control: TransactionControl, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    threads = client_threads()
    identity = begin(own_control)
    publisher = Publisher(KafkaOptions(servers), NAME, lane_count_max=LANE_COUNT_MAX)
    publisher.publish(identity, pinned(LARGE_BYTES), timeout_s=TIMEOUT_S)
    stuck = publisher._producers[failing]
    close = stuck.close
    monkeypatch.setattr(stuck, "close", lambda: (close(), _raise(Timeout("its thread did not end"))))
    broken = [*pinned(LARGE_BYTES), (PARTITIONS[0], b"no batch")]
    with pytest.raises(InvalidRecordBatch):
        publisher.publish(identity, broken, timeout_s=TIMEOUT_S)
    assert publisher._producers == []
    assert client_threads() == threads
    publisher.close()
    with pytest.raises(IllegalState, match="closed"):
        publisher.publish(identity, pinned(10), timeout_s=TIMEOUT_S)
    assert client_threads() == threads


def test_what_was_given_up_without_an_answer_is_not_taken_for_stored(
    servers: str, own_control: TransactionControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = begin(own_control)
    monkeypatch.setattr(Sender, "_send_to", lambda *_: False)
    with RawProducer(servers, identity=identity, transactional_id=NAME) as producer:
        [(where, batch), *_] = _stamped(pinned(10), identity)
        sent = producer.put(where, batch, Deadline(TIMEOUT_S))
        producer.stop()
        assert sent.delivery.wait(TIMEOUT_S)
        with pytest.raises(IllegalState, match="was closed"):
            producer.settle([sent], Deadline(TIMEOUT_S))


def test_a_forked_child_closes_a_publisher_without_touching_its_parents(
    servers: str, own_control: TransactionControl
) -> None:
    identity = begin(own_control)
    publisher = Publisher(KafkaOptions(servers), NAME)
    publisher.publish(identity, pinned(10), timeout_s=TIMEOUT_S)
    with publisher._producers[0]._outbox.lock:  # as another thread may, at the moment of a fork
        child = os.fork()
        if child == 0:
            publisher.close()
            os._exit(0)
    ended = wait_for("the child ends", lambda: os.waitpid(child, os.WNOHANG)[0])
    assert ended == child
    publisher.publish(identity, [], timeout_s=TIMEOUT_S)
    publisher.close()


def test_nothing_is_committed_without_its_token(
    spark: SparkSession, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = Publisher.publish

    def loses_tokens(self: Publisher, *arguments: object, **keywords: object) -> Counter[TopicPartition]:
        counts = publish(self, *arguments, **keywords)
        return Counter({where: count for where, count in counts.items() if where.topic == "out"})

    monkeypatch.setattr(Publisher, "publish", loses_tokens)
    with (
        TransactionalSink(servers, name="forgetful", topic="out", mode="driver", max_retries=0) as sink,
        pytest.raises(GaveUp, match="token was not acknowledged"),
    ):
        sink.write(spark.range(1).selectExpr("'v' value"), token="t")
    assert read_topic(servers, "out") == []


def _raise(problem: Exception) -> None:
    raise problem
