"""Transactions of our producer, in both flows, as confluent-kafka and the coordinator see them."""

import threading
from collections.abc import Callable, Sequence

import pytest

from fencepost.client import OffsetAndMetadata, Producer, TopicPartition
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import (
    AbortableError,
    FencedError,
    GroupFenced,
    IllegalState,
    InvalidTransactionTimeout,
    ProducerFenced,
    RecordTooLarge,
    TransactionAborted,
)
from fencepost.client.producer.transaction_manager import State, TransactionManager
from fencepost.client.values import ConsumerGroupMetadata, Offsets
from tests.behaviour_client.conftest import one_broker
from tests.behaviour_client.reading import values
from tests.interop.support import wait_for

PATIENCE_S = 20.0


@pytest.fixture
def producer(servers: str, name: str) -> Producer:
    with Producer(servers, transactional_id=name) as made:
        made.init_transactions()
        yield made


def wait_until_aborted(admin: Admin, transactional_id: str) -> None:
    def is_aborted() -> bool:
        found = admin.describe_transaction(transactional_id)
        return found is not None and found.state == "CompleteAbort"

    wait_for("the abort", is_aborted)


def committed(admin: Admin, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
    """The group's offsets, once it has some: Kafka answers a commit before its markers are written."""
    return wait_for("a committed offset", lambda: admin.group_offsets(group))


def test_what_is_committed_is_seen_and_what_is_aborted_is_not(servers: str, topic: str, producer: Producer) -> None:
    for number in range(6):
        producer.begin_transaction()
        for partition in range(3):
            producer.send(topic, b"%d" % number, partition=partition)
        if number % 2:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
    assert values(servers, topic) == [b"0", b"2", b"4"] * 3
    everything = values(servers, topic, isolation_level="read_uncommitted")
    assert set(everything) >= {b"0", b"2", b"4"}


def test_nothing_is_seen_before_the_commit(servers: str, topic: str, producer: Producer) -> None:
    producer.begin_transaction()
    producer.send(topic, b"a", partition=0).result(30)
    assert values(servers, topic, while_open=True) == []
    assert values(servers, topic, isolation_level="read_uncommitted", while_open=True) == [b"a"]
    producer.commit_transaction()
    assert values(servers, topic) == [b"a"]


@one_broker
def test_a_transaction_of_nothing_is_committed_and_aborted_without_a_word(producer: Producer) -> None:
    identity = producer.identity
    producer.begin_transaction()
    producer.commit_transaction()
    producer.begin_transaction()
    producer.abort_transaction()
    assert producer.state is State.READY
    assert producer.identity == identity


@one_broker
def test_calls_out_of_order_are_refused_by_name(servers: str, topic: str, name: str) -> None:
    with Producer(servers, transactional_id=name) as producer:
        for call in (producer.begin_transaction, producer.commit_transaction, producer.abort_transaction):
            with pytest.raises(IllegalState, match="UNINITIALIZED"):
                call()
        with pytest.raises(IllegalState, match="send needs a producer that is IN_TRANSACTION"):
            producer.send(topic, b"a")
        producer.init_transactions()
        with pytest.raises(IllegalState, match="init_transactions needs a producer that is UNINITIALIZED"):
            producer.init_transactions()
        for late_call in (producer.commit_transaction, producer.abort_transaction):
            with pytest.raises(IllegalState, match="READY"):
                late_call()
        with pytest.raises(IllegalState, match="READY"):
            producer.send_offsets_to_transaction({(topic, 0): 1}, "group")
        producer.begin_transaction()
        with pytest.raises(IllegalState, match="IN_TRANSACTION"):
            producer.begin_transaction()
    with Producer(servers) as plain, pytest.raises(IllegalState, match="transactional_id"):
        plain.begin_transaction()


def test_offsets_are_seen_with_the_commit_and_not_after_an_abort(
    servers: str, topic: str, name: str, producer: Producer, admin: Admin
) -> None:
    for offset, is_commit in ((3, False), (5, True), (7, False)):
        producer.begin_transaction()
        producer.send(topic, b"%d" % offset, partition=1)
        producer.send_offsets_to_transaction({(topic, 0): offset, (topic, 2): OffsetAndMetadata(1, "word")}, name)
        if is_commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    assert {where: (one.offset, one.metadata) for where, one in committed(admin, name).items()} == {
        TopicPartition(topic, 0): (5, ""),
        TopicPartition(topic, 2): (1, "word"),
    }
    assert values(servers, topic) == [b"5"]


def test_offsets_alone_make_a_transaction(topic: str, name: str, producer: Producer, admin: Admin) -> None:
    producer.begin_transaction()
    producer.send_offsets_to_transaction({TopicPartition(topic, 0): 9}, name)
    producer.commit_transaction()
    assert committed(admin, name)[TopicPartition(topic, 0)].offset == 9


def test_a_member_that_nobody_knows_costs_the_transaction_and_not_the_producer(
    servers: str, topic: str, name: str, producer: Producer
) -> None:
    stranger = ConsumerGroupMetadata(name, generation_id=3, member_id="stranger")
    producer.begin_transaction()
    producer.send(topic, b"lost")
    with pytest.raises(GroupFenced):
        producer.send_offsets_to_transaction({(topic, 0): 9}, stranger)
    assert producer.state is State.ABORTABLE_ERROR
    with pytest.raises(GroupFenced):
        producer.send(topic, b"also lost")
    with pytest.raises(GroupFenced):
        producer.commit_transaction()
    producer.abort_transaction()
    with producer.transaction() as txn:
        txn.send(topic, b"kept")
    assert values(servers, topic) == [b"kept"]


def test_a_sender_that_is_late_from_one_transaction_takes_no_record_of_the_next_along_unprepared(
    servers: str, topic: str, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be stored in a transaction that its producer does not know to have begun, and never ends."""
    is_prepared, may_go_on = threading.Event(), threading.Event()
    prepare = TransactionManager.prepare

    def prepare_and_dawdle(self: TransactionManager, partitions: Sequence[TopicPartition], number: int) -> None:
        prepare(self, partitions, number)
        is_prepared.set()
        assert may_go_on.wait(PATIENCE_S)

    monkeypatch.setattr(TransactionManager, "prepare", prepare_and_dawdle)
    producer.begin_transaction()
    producer.send(topic, b"lost", partition=0)
    assert is_prepared.wait(PATIENCE_S)
    producer.abort_transaction()
    producer.begin_transaction()
    kept = producer.send(topic, b"kept", partition=0)
    may_go_on.set()
    kept.result(PATIENCE_S)
    producer.commit_transaction()
    assert values(servers, topic) == [b"kept"]


def test_a_sender_that_is_late_from_one_transaction_does_not_begin_the_next_which_is_empty(
    servers: str, topic: str, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator would be asked to commit what it has never heard of."""
    is_late, may_go_on, is_done = threading.Event(), threading.Event(), threading.Event()
    prepare = TransactionManager.prepare

    def dawdle_and_prepare(self: TransactionManager, partitions: Sequence[TopicPartition], number: int) -> None:
        is_late.set()
        assert may_go_on.wait(PATIENCE_S)
        prepare(self, partitions, number)
        is_done.set()

    monkeypatch.setattr(TransactionManager, "prepare", dawdle_and_prepare)
    producer.begin_transaction()
    producer.send(topic, b"lost", partition=0)
    assert is_late.wait(PATIENCE_S)
    producer.abort_transaction()
    producer.begin_transaction()
    may_go_on.set()
    assert is_done.wait(PATIENCE_S)
    producer.commit_transaction()
    with producer.transaction() as txn:
        txn.send(topic, b"kept", partition=0)
    assert values(servers, topic) == [b"kept"]


def test_a_record_that_is_refused_makes_the_transaction_abortable_and_the_next_one_works(
    servers: str, admin: Admin, name: str, producer: Producer
) -> None:
    admin.create_topic(name, 1, 1, {"max.message.bytes": "2000"})
    producer.begin_transaction()
    producer.send(name, b"before").result(30)
    refused = producer.send(name, bytes(5000))
    with pytest.raises(RecordTooLarge):
        producer.commit_transaction()
    assert isinstance(refused.exception(30), RecordTooLarge)
    assert producer.state is State.ABORTABLE_ERROR
    producer.abort_transaction()
    for number in range(3):
        with producer.transaction() as txn:
            txn.send(name, b"%d" % number)
    assert values(servers, name) == [b"0", b"1", b"2"]


def test_an_older_producer_is_fenced_says_so_and_never_sends_again(servers: str, topic: str, name: str) -> None:
    with Producer(servers, transactional_id=name, client_id="older") as older:
        older.init_transactions()
        older.begin_transaction()
        older.send(topic, b"of the older", partition=0).result(30)
        with Producer(servers, transactional_id=name, client_id="newer") as newer:
            newer.init_transactions()
            newer.begin_transaction()
            newer.send(topic, b"of the newer", partition=0)
            newer.commit_transaction()
            with pytest.raises(ProducerFenced) as raised:
                older.commit_transaction()
            assert newer.identity is not None
            assert name in str(raised.value)
            assert f"epoch {newer.identity.producer_epoch}" in str(raised.value)
        assert older.state is State.FATAL_ERROR
        for call in (older.begin_transaction, older.abort_transaction, older.commit_transaction):
            with pytest.raises(FencedError):
                call()
        with pytest.raises(ProducerFenced):
            older.send(topic, b"never")
    assert values(servers, topic) == [b"of the newer"]


def test_a_fenced_producer_that_sends_hears_from_our_broker_who_it_was(fencepost_servers: str, name: str) -> None:
    with (
        Producer(fencepost_servers, transactional_id=name, client_id="older") as older,
        Producer(fencepost_servers, transactional_id=name, client_id="newer") as newer,
    ):
        older.init_transactions()
        older.begin_transaction()
        older.send(name, b"before").result(30)
        newer.init_transactions()
        future = older.send(f"{name}-other", b"after")
        error = future.exception(30)
        assert isinstance(error, AbortableError)
        with pytest.raises(ProducerFenced) as raised:
            older.abort_transaction()
        assert "'newer'" in str(raised.value)
        assert "InitProducerId" in str(raised.value)


def test_taking_over_aborts_what_was_left_open(servers: str, topic: str, name: str) -> None:
    older = Producer(servers, transactional_id=name)
    older.init_transactions()
    older.begin_transaction()
    older.send(topic, b"left open", partition=0).result(30)
    with Producer(servers, transactional_id=name) as newer:
        newer.init_transactions()
        assert values(servers, topic) == []
        with newer.transaction() as txn:
            txn.send(topic, b"a", partition=0)
    older.close()
    assert values(servers, topic) == [b"a"]


def test_a_transaction_that_timed_out_is_aborted_and_done_again(
    servers: str, topic: str, name: str, admin: Admin, request: pytest.FixtureRequest
) -> None:
    is_classic = "classic" in request.node.name
    with Producer(servers, transactional_id=name, transaction_timeout_ms=200) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"too late", partition=0).result(30)
        wait_until_aborted(admin, name)
        with pytest.raises((AbortableError, FencedError)):
            producer.commit_transaction()
        if not is_classic and producer.state is State.ABORTABLE_ERROR:
            producer.abort_transaction()
            with producer.transaction() as txn:
                txn.send(topic, b"in time", partition=0)
            assert values(servers, topic) == [b"in time"]
        else:
            assert producer.state is State.FATAL_ERROR
            assert values(servers, topic) == []


def test_a_timeout_that_the_broker_does_not_allow_is_refused(servers: str, name: str) -> None:
    with (
        Producer(servers, transactional_id=name, transaction_timeout_ms=2_000_000_000) as producer,
        pytest.raises(InvalidTransactionTimeout, match=r"transaction\.max\.timeout\.ms"),
    ):
        producer.init_transactions()


def test_closing_within_a_transaction_aborts_it(servers: str, topic: str, name: str, admin: Admin) -> None:
    with Producer(servers, transactional_id=name, linger_ms=60_000) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"sent", partition=0)
        producer.flush()
        waiting = producer.send(topic, b"waiting", partition=0)
    assert isinstance(waiting.exception(0), TransactionAborted)
    wait_until_aborted(admin, name)
    assert values(servers, topic) == []


class Consumer:
    """Stands in for one: knows its group, how far it has come, and whether it was sent back."""

    commits_automatically = False
    taken_away_count = 0

    def __init__(self, group_id: str, offsets: Offsets) -> None:
        self._group_id = group_id
        self._offsets = offsets
        self.went_back = 0

    def group_metadata(self) -> ConsumerGroupMetadata:
        return ConsumerGroupMetadata(self._group_id)

    def consumed_offsets(self) -> Offsets:
        return self._offsets

    def seek_to_committed(self) -> None:
        self.went_back += 1


@pytest.mark.parametrize(("is_given", "is_sent", "offset"), [(True, False, 4), (True, True, 3), (False, True, 4)])
def test_a_block_commits_at_its_end_with_the_offsets_of_its_consumer(
    servers: str,
    topic: str,
    name: str,
    producer: Producer,
    admin: Admin,
    is_given: bool,
    is_sent: bool,
    offset: int,
) -> None:
    consumer = Consumer(name, {TopicPartition(topic, 0): OffsetAndMetadata(4)})
    with producer.transaction(*[consumer] * is_given) as txn:
        txn.send(topic, b"a", key=b"k")
        if is_sent:
            txn.send_offsets(consumer, {(topic, 0): 3} if is_given else None)
    assert consumer.went_back == 0
    assert values(servers, topic) == [b"a"]
    assert committed(admin, name)[TopicPartition(topic, 0)].offset == offset


def fail_half_way(servers: str, producer: Producer, consumer: Consumer, topic: str) -> None:
    with producer.transaction() as txn:
        txn.send(topic, b"a")
        txn.send_offsets(consumer)
        raise ZeroDivisionError


def fail_before_offsets_are_sent(servers: str, producer: Producer, consumer: Consumer, topic: str) -> None:
    with producer.transaction(consumer) as txn:
        txn.send(topic, b"a")
        raise ZeroDivisionError


def lose_the_id(servers: str, producer: Producer, consumer: Consumer, topic: str) -> None:
    with producer.transaction(consumer) as txn:
        txn.send(topic, b"of the old one").result(PATIENCE_S)
        with Producer(servers, transactional_id=producer.settings.transactional_id) as newer:
            newer.init_transactions()


def send_too_much(servers: str, producer: Producer, consumer: Consumer, topic: str) -> None:
    with producer.transaction() as txn:
        txn.send(topic, bytes(5000))
        txn.send_offsets(consumer)


@pytest.mark.parametrize(
    ("fail", "error", "state"),
    [
        (fail_half_way, ZeroDivisionError, State.READY),
        (fail_before_offsets_are_sent, ZeroDivisionError, State.READY),
        (lose_the_id, FencedError, State.FATAL_ERROR),
        (send_too_much, RecordTooLarge, State.READY),
    ],
)
def test_a_block_that_fails_commits_nothing_and_sends_its_consumer_back(
    servers: str,
    name: str,
    admin: Admin,
    producer: Producer,
    fail: Callable[[str, Producer, Consumer, str], None],
    error: type[Exception],
    state: State,
) -> None:
    admin.create_topic(name, 1, 1, {"max.message.bytes": "2000"})
    consumer = Consumer(name, {TopicPartition(name, 0): OffsetAndMetadata(4)})
    with pytest.raises(error):
        fail(servers, producer, consumer, name)
    assert consumer.went_back == 1
    assert producer.state is state
    assert values(servers, name) == []


@one_broker
def test_a_consumer_that_commits_by_itself_is_refused(topic: str, name: str, producer: Producer) -> None:
    consumer = Consumer(name, {TopicPartition(topic, 0): OffsetAndMetadata(4)})
    consumer.commits_automatically = True
    with pytest.raises(IllegalState, match="enable_auto_commit"), producer.transaction() as txn:
        txn.send_offsets(consumer)
    assert producer.state is State.READY
    with pytest.raises(IllegalState, match="enable_auto_commit"):
        producer.transaction(consumer)
    assert producer.state is State.READY


@one_broker
def test_many_threads_may_send_into_one_transaction(servers: str, topic: str, producer: Producer) -> None:
    def send_some(thread: int) -> None:
        for number in range(100):
            producer.send(topic, b"%d %d" % (thread, number), partition=thread % 3)

    with producer.transaction():
        threads = [threading.Thread(target=send_some, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(values(servers, topic))) == 400
