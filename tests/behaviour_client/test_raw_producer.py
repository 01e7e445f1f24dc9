"""Given batches under one shared identity, and transactions that are controlled from somewhere else."""

import multiprocessing

import pytest

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import (
    AbortableError,
    ClientError,
    IllegalState,
    InvalidProducerEpoch,
    OutOfOrderSequence,
    ProducerFenced,
    RetriableError,
)
from fencepost.client.raw_producer import Acknowledged, RawProducer
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ConsumerGroupMetadata, OffsetAndMetadata, ProducerIdentity
from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.types import TopicPartition
from tests.behaviour_client.conftest import one_broker, two_flows
from tests.behaviour_client.fault_proxy import CUT_AFTER, CUT_BEFORE, FaultProxy, deny, refuse
from tests.behaviour_client.reading import values

QUICK = {"retry_backoff_ms": 2, "retry_backoff_max_ms": 10}


@pytest.fixture
def control(servers: str, name: str) -> TransactionControl:
    cluster = Cluster(servers, ClientSettings())
    yield TransactionControl(cluster, name)
    cluster.close()


def batch(identity: ProducerIdentity, sequence: int, *contents: bytes, is_transactional: bool = True) -> bytes:
    return build_batch(
        [Record(value=value, timestamp_ms=0) for value in contents],
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )


def open_transaction(control: TransactionControl, *partitions: TopicPartition) -> ProducerIdentity:
    identity = control.init_producer_id(transaction_timeout_ms=60_000, deadline=Deadline(30))
    if not control.uses_v2:
        control.add_partitions(identity, partitions, deadline=Deadline(30))
    return identity


def publish(servers: str, name: str, identity: ProducerIdentity, where: TopicPartition, values_: list[bytes]) -> None:
    """What a worker process does: it knows the identity and nothing else."""
    with RawProducer(servers, identity=identity, transactional_id=name) as producer:
        batches = [(where, batch(identity, sequence, value)) for sequence, value in enumerate(values_)]
        assert len(producer.produce(batches, timeout_s=30)) == len(values_)


def test_several_processes_write_one_transaction_that_another_one_commits(
    servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    partitions = [TopicPartition(topic, partition) for partition in range(3)]
    identity = open_transaction(control, *partitions)
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=publish, args=(servers, name, identity, where, [b"%d" % n for n in range(10)]))
        for where in partitions
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert values(servers, topic, while_open=True) == []
    if not control.uses_v2:
        control.add_offsets(identity, name, deadline=Deadline(30))
    control.txn_offset_commit(
        identity, ConsumerGroupMetadata(name), {partitions[0]: OffsetAndMetadata(7)}, deadline=Deadline(30)
    )
    after = control.end_txn(identity, is_commit=True, deadline=Deadline(30))
    assert values(servers, topic) == [b"%d" % n for n in range(10)] * 3
    assert after == (identity._replace(producer_epoch=identity.producer_epoch + 1) if control.uses_v2 else identity)


def test_batches_are_acknowledged_in_the_order_given(
    servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    one, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    identity = open_transaction(control, one, other)
    with RawProducer(servers, identity=identity, transactional_id=name) as producer:
        stored = producer.produce(
            [
                (one, batch(identity, 0, b"a", b"b")),
                (other, batch(identity, 0, b"x")),
                (one, batch(identity, 2, b"c")),
            ]
        )
        assert stored == [Acknowledged(one, 0, 2, 0), Acknowledged(other, 0, 1, 0), Acknowledged(one, 2, 1, 2)]
    control.end_txn(identity, is_commit=True, deadline=Deadline(30))
    assert values(servers, topic) == [b"a", b"b", b"c", b"x"]


@two_flows
def test_the_first_failure_stops_everything_behind_it(
    proxy: FaultProxy, servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    where = TopicPartition(topic, 0)
    identity = open_transaction(control, where)
    with RawProducer(
        proxy.bootstrap_servers, identity=identity, transactional_id=name, max_in_flight_requests_per_connection=1
    ) as producer:
        batches = [(where, batch(identity, sequence, b"%d" % sequence)) for sequence in range(5)]
        producer.produce(batches[:1])
        proxy.plan("Produce", refuse(ErrorCode.INVALID_RECORD))
        with pytest.raises(AbortableError):
            producer.produce(batches[1:])
        with pytest.raises(AbortableError):
            producer.produce([(where, batch(identity, 5, b"5"))])
    control.end_txn(identity, is_commit=True, deadline=Deadline(30))
    assert values(servers, topic) == [b"0"]


def test_a_gap_is_refused_once_the_partition_knows_the_producer(
    servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    where = TopicPartition(topic, 0)
    identity = open_transaction(control, where)
    with RawProducer(servers, identity=identity, transactional_id=name) as producer:
        producer.produce([(where, batch(identity, 0, b"a"))])
        with pytest.raises(OutOfOrderSequence):
            producer.produce([(where, batch(identity, 7, b"b"))])
    control.end_txn(identity, is_commit=False, deadline=Deadline(30))


def test_retries_send_the_same_bytes_and_store_them_once(
    proxy: FaultProxy, servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    where = TopicPartition(topic, 0)
    identity = open_transaction(control, where)
    proxy.plan("Produce", CUT_AFTER, CUT_BEFORE, deny(ErrorCode.REQUEST_TIMED_OUT), None, CUT_AFTER)
    with RawProducer(proxy.bootstrap_servers, identity=identity, transactional_id=name, **QUICK) as producer:
        batches = [(where, batch(identity, sequence, b"%d" % sequence)) for sequence in range(20)]
        assert [stored.base_offset for stored in producer.produce(batches, timeout_s=30)] == list(range(20))
    control.end_txn(identity, is_commit=True, deadline=Deadline(30))
    assert values(servers, topic) == [b"%d" % number for number in range(20)]


def test_stragglers_of_an_older_owner_are_refused(
    servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    where = TopicPartition(topic, 0)
    older = open_transaction(control, where)
    with RawProducer(servers, identity=older, transactional_id=name) as straggler:
        straggler.produce([(where, batch(older, 0, b"old"))])
        newer = open_transaction(control, where)
        with pytest.raises(InvalidProducerEpoch):
            straggler.produce([(where, batch(older, 1, b"late"))])
    with pytest.raises(ProducerFenced):
        control.end_txn(older, is_commit=True, deadline=Deadline(30))
    with pytest.raises(ProducerFenced):
        control.init_producer_id(transaction_timeout_ms=60_000, presented=older, deadline=Deadline(30))
    with RawProducer(servers, identity=newer, transactional_id=name) as producer:
        producer.produce([(where, batch(newer, 0, b"new"))])
    control.end_txn(newer, is_commit=True, deadline=Deadline(30))
    assert values(servers, topic) == [b"new"]


def test_the_owner_of_an_identity_gets_the_next_one(control: TransactionControl) -> None:
    first = control.init_producer_id(transaction_timeout_ms=60_000, deadline=Deadline(30))
    second = control.init_producer_id(transaction_timeout_ms=60_000, presented=first, deadline=Deadline(30))
    assert second == first._replace(producer_epoch=first.producer_epoch + 1)


@one_broker
def test_batches_of_somebody_else_are_refused_before_they_are_sent(servers: str, topic: str) -> None:
    identity = ProducerIdentity(5, 5)
    where = TopicPartition(topic, 0)
    with RawProducer(servers, identity=identity) as producer:
        for stranger in (
            batch(ProducerIdentity(5, 6), 0, b"a", is_transactional=False),
            batch(identity, -1, b"a", is_transactional=False),
            batch(identity, 0, b"a", is_transactional=True),
        ):
            with pytest.raises(IllegalState):
                producer.produce([(where, stranger)])


def test_a_coordinator_that_is_not_there_is_waited_for_only_so_long(name: str) -> None:
    cluster = Cluster("127.0.0.1:1", ClientSettings(**QUICK))
    with pytest.raises(RetriableError, match=r"127\.0\.0\.1:1") as raised:
        TransactionControl(cluster, name).end_txn(ProducerIdentity(1, 1), is_commit=True, deadline=Deadline(0.2))
    assert isinstance(raised.value, ClientError)
    cluster.close()


def test_a_producer_goes_on_under_the_identity_of_the_next_transaction(
    servers: str, topic: str, name: str, control: TransactionControl
) -> None:
    where = TopicPartition(topic, 0)
    identity = open_transaction(control, where)
    with RawProducer(servers, identity=identity, transactional_id=name) as producer:
        producer.produce([(where, batch(identity, 0, b"first"))], timeout_s=30)
        ended = control.end_txn(identity, is_commit=True, deadline=Deadline(30))
        following = open_transaction(control, where) if ended == identity else ended
        with pytest.raises(IllegalState):
            producer.produce([(where, batch(following, 0, b"too early"))], timeout_s=30)
        producer.go_on_as(following)
        producer.produce([(where, batch(following, 0, b"second"))], timeout_s=30)
        control.end_txn(following, is_commit=True, deadline=Deadline(30))
    assert values(servers, topic) == [b"first", b"second"]
