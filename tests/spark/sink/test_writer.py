"""The protocol of the writer where it is used in unusual ways, against a broker and without Spark."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.client import Admin, read_arrow
from fencepost.client.exceptions import Disconnected, Timeout
from fencepost.client.net.metadata import Node
from fencepost.client.values import ProducerIdentity
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark import TransactionalSink
from fencepost.spark.sink import transaction as transaction_module
from fencepost.spark.sink import writer as writer_module
from fencepost.spark.sink.errors import GaveUp
from fencepost.types import TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages.describe_configs import DescribeConfigsRequest
from tests.interop.support import wait_for
from tests.spark.sink.by_hand import at_first, micro_batch, plan, unlucky

VALUES = [b"v%d" % number for number in range(5)]
A_WHILE_S = 1.0


@pytest.fixture(params=["1", "2"])
def either_flow(request: pytest.FixtureRequest) -> Iterator[str]:
    """A broker of each of the two transaction flows, with two topics."""
    with EmbeddedBroker(settings={"transaction.version": request.param}) as broker:
        with Admin(broker.bootstrap_servers) as admin:
            admin.create_topic("a")
            admin.create_topic("b")
        yield broker.bootstrap_servers


def values_of(servers: str, topic: str) -> list[bytes]:
    return read_arrow(servers, topic).column("value").to_pylist()


def test_a_second_thread_waits_until_the_first_has_committed(either_flow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with TransactionalSink(either_flow, name="shared") as sink:
        writer = sink._writer
        second = threading.Thread(target=lambda: writer.write(plan("second", "b", VALUES)))

        def let_the_second_try() -> None:
            second.start()
            second.join(A_WHILE_S)
            assert values_of(either_flow, "b") == [], "it is the first one's turn"

        at_first(monkeypatch, "before-offsets", let_the_second_try)
        assert writer.write(plan("first", "a", VALUES)).retry_count == 0
        second.join()
    assert values_of(either_flow, "a") == VALUES
    assert values_of(either_flow, "b") == VALUES


def test_a_try_whose_identity_was_replaced_commits_nothing_and_is_repeated(
    either_flow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TransactionalSink(either_flow, name="overtaken") as sink:
        transaction = sink._writer._transaction

        def overtake() -> None:
            """What the try has published is gone, and the next transaction is under way."""
            transaction.abort()
            transaction.begin()
            transaction.join(transaction.identity, [sink._writer._ledger.partition])

        at_first(monkeypatch, "before-offsets", overtake)
        outcome = sink._writer.write(plan("a", "a", VALUES))
    assert (outcome.retry_count, outcome.is_skipped) == (1, False)
    assert values_of(either_flow, "a") == VALUES


def test_offsets_of_a_source_topic_that_was_deleted_are_left_out_and_the_rest_commits(
    either_flow: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(transaction_module, "CALL_TIMEOUT_S", A_WHILE_S)
    there, shrunk, deleted = TopicPartition("b", 0), TopicPartition("b", 7), TopicPartition("deleted", 0)
    with TransactionalSink(either_flow, name="s", max_retries=0) as sink:
        sink._writer.write(micro_batch("a", VALUES, {there: 5, shrunk: 6, deleted: 7}))
        with Admin(either_flow) as admin:
            assert {where: found.offset for where, found in admin.group_offsets(sink.group_id).items()} == {there: 5}
            assert "deleted" not in admin.describe_topics(), "asking has not brought it back"
    assert values_of(either_flow, "a") == VALUES
    assert "b-7, deleted-0" in caplog.text


def test_a_micro_batch_whose_source_topics_are_all_gone_commits_without_offsets(
    either_flow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction_module, "CALL_TIMEOUT_S", A_WHILE_S)
    with TransactionalSink(either_flow, name="s", max_retries=0) as sink:
        sink._writer.write(micro_batch("a", VALUES, {TopicPartition("deleted", 0): 7}))
    assert values_of(either_flow, "a") == VALUES


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_limit_that_nobody_tells_lengthens_no_timeout(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"transaction.max.timeout.ms": "60000", "transaction.version": version}
    with EmbeddedBroker(settings=settings) as broker, TransactionalSink(broker.bootstrap_servers, name="s") as sink:
        sink._layout.look_up(["a"])
        cluster, answered = sink._cluster, sink._cluster.call

        def call(node: Node, request: Message, *given: Any, **more: Any) -> Message:
            if isinstance(request, DescribeConfigsRequest):
                raise Disconnected("the broker is away for a moment")
            return answered(node, request, *given, **more)

        monkeypatch.setattr(cluster, "call", call)
        todo = unlucky(plan("t", "a", VALUES), Timeout("the broker was away"))
        assert sink._writer.write(todo).retry_count == 1
        assert sink._writer._transaction.timeout_ms == 60_000
        assert values_of(broker.bootstrap_servers, "a") == VALUES


def test_giving_up_with_an_unknown_limit_says_that_it_is_unknown(
    either_flow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "transaction_timeout_ms_max", lambda _: None)
    with TransactionalSink(either_flow, name="s", max_retries=0) as sink:
        todo = unlucky(plan("t", "a", VALUES), Timeout("the broker was away"))
        with pytest.raises(GaveUp, match=r"transaction_timeout_ms=60000 .* could not be asked"):
            sink._writer.write(todo)


def await_forgotten(servers: str, transactional_id: str) -> None:
    with Admin(servers) as admin:
        wait_for("the id is forgotten", lambda: admin.describe_transaction(transactional_id) is None)


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_driver_whose_id_the_coordinator_forgot_believes_only_the_ledger(version: str) -> None:
    """While it was idle another driver may have come and gone, and been forgotten as well."""
    settings = {
        "transaction.version": version,
        "transactional.id.expiration.ms": "200",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "50",
    }
    with EmbeddedBroker(settings=settings) as broker:
        servers = broker.bootstrap_servers
        with TransactionalSink(servers, name="s") as idle, TransactionalSink(servers, name="s") as other:
            idle._layout.look_up(["a"])
            idle._writer.write(plan("first", "a", VALUES))
            await_forgotten(servers, idle.transactional_id)
            other._writer.write(plan("second", "a", VALUES))
            await_forgotten(servers, idle.transactional_id)
            assert idle._writer.write(plan("second", "a", VALUES)).is_skipped
        assert values_of(servers, "a") == VALUES * 2


@pytest.fixture
def unanswered_commit(either_flow: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TransactionalSink]:
    """A sink whose commits are done, and not answered."""
    with TransactionalSink(either_flow, name="s", max_retries=0) as sink:
        control = sink._writer._transaction._control
        ended = control.end_txn

        def end(identity: ProducerIdentity, *, is_commit: bool, **more: Any) -> ProducerIdentity:
            following = ended(identity, is_commit=is_commit, **more)
            if is_commit:
                raise Timeout("EndTxn was not answered in time")
            return following

        monkeypatch.setattr(control, "end_txn", end)
        yield sink


def test_giving_up_after_an_unanswered_commit_does_not_say_that_nothing_is_visible(
    either_flow: str, unanswered_commit: TransactionalSink
) -> None:
    with pytest.raises(GaveUp, match=r"it may be committed: .* the next start finds out") as caught:
        unanswered_commit._writer.write(plan("t", "a", VALUES))
    assert "nothing of it is visible" not in str(caught.value)
    assert values_of(either_flow, "a") == VALUES
    with TransactionalSink(either_flow, name="s") as later:
        assert later._writer.write(plan("t", "a", VALUES)).is_skipped


def test_giving_up_before_the_commit_says_that_nothing_is_visible(either_flow: str) -> None:
    with TransactionalSink(either_flow, name="s", max_retries=0) as sink:
        todo = unlucky(plan("t", "a", VALUES), Disconnected("the broker was away"))
        with pytest.raises(GaveUp, match="nothing of it is visible"):
            sink._writer.write(todo)


def test_an_unanswered_commit_is_not_forgotten_while_later_tries_do_not_get_as_far_as_the_ledger(
    unanswered_commit: TransactionalSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = unanswered_commit._writer
    monkeypatch.setattr(writer, "_max_retries", 1)
    reads = [writer._ledger.read]

    def read() -> dict[bytes, bytes]:
        if not reads:
            raise Disconnected("the broker was away")
        return reads.pop()()

    monkeypatch.setattr(writer._ledger, "read", read)
    with pytest.raises(GaveUp, match="it may be committed"):
        writer.write(plan("t", "a", VALUES))


def test_a_longer_timeout_is_the_coordinators_from_the_next_transaction_on(either_flow: str) -> None:
    with TransactionalSink(either_flow, name="longer", transaction_timeout_ms=60_000) as sink:
        sink._writer.write(plan("first", "a", VALUES))
        assert sink._writer._transaction.lengthen(900_000)
        sink._writer.write(plan("second", "b", VALUES))
        with Admin(either_flow) as admin:
            found = admin.describe_transaction(sink.transactional_id)
    assert found is not None
    assert found.timeout_ms == 120_000
