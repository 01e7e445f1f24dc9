"""A transactional producer that several threads use at once: whatever the moment, a commit means that every record of
the transaction is stored, and no record gets into a transaction in which it was not sent."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pyarrow as pa
import pytest

from fencepost.client import Producer
from fencepost.client.exceptions import ClientError, FatalError, IllegalState
from fencepost.client.producer.sender import Sender
from fencepost.client.producer.transaction_manager import State
from fencepost.client.transaction_control import TransactionControl
from tests.behaviour_client.reading import values
from tests.interop.support import wait_for

PATIENCE_S = 20.0


@pytest.fixture
def other_thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Whether records stay in the producer, as they do while their leader is away and the coordinator is not."""
    send_to = Sender._send_to
    is_held = threading.Event()

    def held_or_sent(self: Sender, *arguments: Any) -> bool:
        return False if is_held.is_set() else send_to(self, *arguments)

    monkeypatch.setattr(Sender, "_send_to", held_or_sent)

    def hold(is_wanted: bool) -> None:
        is_held.set() if is_wanted else is_held.clear()

    return hold


def transactional(servers: str, name: str, **settings: Any) -> Producer:
    producer = Producer(servers, transactional_id=name, **settings)
    producer.init_transactions()
    return producer


def commit_one_more(servers: str, name: str, topic: str) -> list[bytes | None]:
    """What is committed when another producer of this id has ended what was left open."""
    with transactional(servers, name) as producer, producer.transaction() as txn:
        txn.send(topic, b"next", partition=0)
    return values(servers, topic)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_transaction_whose_records_were_given_up_with_the_sender_is_not_committed(
    servers: str, name: str, topic: str
) -> None:
    with transactional(servers, name) as producer:
        producer.begin_transaction()
        producer.send(topic, b"stored", partition=0).result(PATIENCE_S)
        is_at_end, may_end = threading.Event(), threading.Event()

        def end_the_sender(_: object) -> None:
            is_at_end.set()
            assert may_end.wait(PATIENCE_S)
            raise SystemExit

        producer.send(topic, b"stored too", partition=0).add_done_callback(end_the_sender)
        assert is_at_end.wait(PATIENCE_S)
        given_up = producer.send(topic, b"given up", partition=0)
        may_end.set()
        assert "sender has failed" in str(given_up.exception(PATIENCE_S))
        with pytest.raises(FatalError, match="sender has failed"):
            producer.commit_transaction()
        with pytest.raises(FatalError, match="sender has failed"):
            producer.send(topic, b"later", partition=0)
    assert commit_one_more(servers, name, topic) == [b"next"]


def test_a_producer_that_is_closed_while_another_thread_commits_has_committed_all_or_nothing(
    servers: str,
    name: str,
    topic: str,
    held: Callable[[bool], None],
    other_thread: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    producer = transactional(servers, name)
    producer.begin_transaction()
    producer.send(topic, b"stored", partition=0).result(PATIENCE_S)
    held(True)
    given_up = producer.send(topic, b"given up", partition=0)
    committing = other_thread.submit(producer.commit_transaction)
    wait_for("the commit begins", lambda: producer.state is State.COMMITTING_TRANSACTION)
    hang_up = producer.cluster.close
    monkeypatch.setattr(producer.cluster, "close", lambda: (wait([committing], PATIENCE_S), hang_up()))
    producer.close(timeout=0)
    with pytest.raises(ClientError, match="closed"):
        committing.result(PATIENCE_S)
    assert given_up.exception(PATIENCE_S) is not None
    held(False)
    assert commit_one_more(servers, name, topic) == [b"next"]


SENDS = {
    "send": lambda producer, topic, value: producer.send(topic, value, partition=0),
    "send_arrow": lambda producer, topic, value: producer.send_arrow(
        topic, pa.table({"value": [value], "partition": pa.array([0], pa.int32())})
    ),
}


@pytest.mark.parametrize("has_next_begun", [False, True], ids=["between transactions", "in the next"])
@pytest.mark.parametrize("send", SENDS.values(), ids=SENDS)
def test_a_send_that_takes_longer_than_its_transaction_sends_nothing(
    servers: str,
    name: str,
    topic: str,
    other_thread: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
    send: Callable[[Producer, str, bytes], object],
    has_next_begun: bool,
) -> None:
    with transactional(servers, name) as producer:
        producer.begin_transaction()
        producer.send(topic, b"aborted", partition=0).result(PATIENCE_S)
        is_inside, may_go_on = threading.Event(), threading.Event()
        look_up = producer._topic

        def look_up_slowly(*arguments: Any) -> Any:
            if threading.current_thread() is not threading.main_thread():
                is_inside.set()
                assert may_go_on.wait(PATIENCE_S)
            return look_up(*arguments)

        monkeypatch.setattr(producer, "_topic", look_up_slowly)
        late = other_thread.submit(send, producer, topic, b"late")
        assert is_inside.wait(PATIENCE_S)
        producer.abort_transaction()
        if has_next_begun:
            producer.begin_transaction()
        may_go_on.set()
        with pytest.raises(IllegalState, match="ended meanwhile" if has_next_begun else "READY"):
            late.result(PATIENCE_S)
        if not has_next_begun:
            producer.begin_transaction()
        producer.send(topic, b"next", partition=0)
        producer.commit_transaction()
    assert values(servers, topic) == [b"next"]


@pytest.mark.parametrize("send", SENDS.values(), ids=SENDS)
def test_a_send_that_waits_for_memory_while_its_transaction_is_aborted_sends_nothing(
    servers: str,
    name: str,
    topic: str,
    held: Callable[[bool], None],
    other_thread: ThreadPoolExecutor,
    send: Callable[[Producer, str, bytes], object],
) -> None:
    limits = {"buffer_memory": 5000, "max_request_size": 5000, "batch_size": 100, "linger_ms": 0}
    with transactional(servers, name, **limits) as producer:
        producer.partitions_for(topic)
        held(True)
        producer.begin_transaction()
        producer.send(topic, bytes(4000), partition=0)
        late: Future[object] = other_thread.submit(send, producer, topic, b"l" * 3000)
        wait_for("the other thread waits for memory", lambda: producer._outbox.accumulator.blocked_count)
        producer.abort_transaction()
        with pytest.raises(IllegalState, match=r"ABORTING|READY"):
            late.result(PATIENCE_S)
        held(False)
        producer.begin_transaction()
        producer.send(topic, b"next", partition=0)
        producer.commit_transaction()
    assert values(servers, topic) == [b"next"]


def test_a_second_begin_at_the_same_time_is_refused_and_changes_nothing(
    servers: str, name: str, topic: str, other_thread: ThreadPoolExecutor
) -> None:
    with transactional(servers, name) as producer:
        transactions = producer._transactions
        assert transactions is not None
        with transactions._lock:  # held where the first one has looked at the state
            late = other_thread.submit(producer.begin_transaction)
            producer.begin_transaction()
            producer.send(topic, b"kept", partition=0)
        with pytest.raises(IllegalState, match="IN_TRANSACTION"):
            late.result(PATIENCE_S)
        producer.commit_transaction()
    assert values(servers, topic) == [b"kept"]


def test_two_threads_that_initialize_one_producer_leave_it_with_one_identity(
    servers: str, name: str, topic: str, other_thread: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    init_producer_id = TransactionControl.init_producer_id
    is_asked, may_go_on = threading.Event(), threading.Event()

    def slowly(self: TransactionControl, **arguments: Any) -> Any:
        is_asked.set()
        assert may_go_on.wait(PATIENCE_S)
        return init_producer_id(self, **arguments)

    monkeypatch.setattr(TransactionControl, "init_producer_id", slowly)
    with Producer(servers, transactional_id=name) as producer, ThreadPoolExecutor(1) as third_thread:
        first = other_thread.submit(producer.init_transactions)
        assert is_asked.wait(PATIENCE_S)
        second = third_thread.submit(producer.init_transactions)
        wait_for("the second thread waits", second.running)
        may_go_on.set()
        first.result(PATIENCE_S)
        with pytest.raises(IllegalState, match="READY"):
            second.result(PATIENCE_S)
        with producer.transaction() as txn:
            txn.send(topic, b"kept", partition=0)
    assert values(servers, topic) == [b"kept"]


def test_a_record_that_is_sent_while_the_producer_is_closed_does_not_keep_it_open(
    servers: str, name: str, topic: str, other_thread: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = transactional(servers, name)
    producer.begin_transaction()
    producer.send(topic, b"aborted", partition=0).result(PATIENCE_S)
    drop_waiting = producer._sender.drop_waiting

    def dropped_a_moment_before_a_send(why: ClientError) -> None:
        drop_waiting(why)
        with pytest.raises(ClientError):
            producer.send(topic, b"late", partition=0)

    monkeypatch.setattr(producer._sender, "drop_waiting", dropped_a_moment_before_a_send)
    producer.close(timeout=PATIENCE_S)
    assert commit_one_more(servers, name, topic) == [b"next"]
