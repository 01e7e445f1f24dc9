"""A transaction that the coordinator aborts by itself: its owner goes on, and is not taken for replaced."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.client import Admin
from fencepost.client.exceptions import Timeout
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ProducerIdentity
from fencepost.lab.apache_kafka import SHORT_LIVED, ApacheKafka
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark import TransactionalSink
from fencepost.spark.sink.errors import FencedByAnotherDriver
from tests.interop.support import wait_for
from tests.peers import delete_topics, require_jars
from tests.spark.sink.by_hand import at_first, plan
from tests.spark.sink.test_writer import VALUES, values_of

SETTINGS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}
BROKERS = ["ours_1", "ours_2", *(pytest.param(name, marks=pytest.mark.kafka) for name in ("kafka_1", "kafka_2"))]


@pytest.fixture(scope="module")
def kafka_1_shared() -> Iterator[ApacheKafka]:
    require_jars()
    flow = ("--feature", "transaction.version=1")
    with ApacheKafka(settings=SETTINGS, heap="512m", java_options=SHORT_LIVED, format_options=flow) as running:
        yield running


@pytest.fixture
def kafka_1(kafka_1_shared: ApacheKafka) -> str:
    delete_topics(kafka_1_shared.bootstrap_servers)
    return kafka_1_shared.bootstrap_servers


@pytest.fixture
def kafka_2(empty_kafka_servers: str) -> str:
    return empty_kafka_servers


@pytest.fixture
def ours_1() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS | {"transaction.version": "1"}) as running:
        yield running.bootstrap_servers


@pytest.fixture
def ours_2() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS) as running:
        yield running.bootstrap_servers


@pytest.fixture(params=BROKERS)
def servers(request: pytest.FixtureRequest) -> str:
    """A broker of each of the two transaction flows, with a topic."""
    found = str(request.getfixturevalue(request.param))
    with Admin(found) as admin:
        admin.create_topic("a")
    return found


def test_a_driver_whose_abort_was_not_answered_goes_on(servers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    end_txn = TransactionControl.end_txn

    def no_abort(self: TransactionControl, identity: ProducerIdentity, **given: Any) -> ProducerIdentity:
        if not given["is_commit"]:
            raise Timeout("EndTxn was not answered in time")
        return end_txn(self, identity, **given)

    def fail() -> None:
        raise Timeout("something took too long")

    monkeypatch.setattr(TransactionControl, "end_txn", no_abort)
    at_first(monkeypatch, "before-offsets", fail)
    with TransactionalSink(servers, name="s") as sink:
        assert sink._writer.write(plan("t", "a", VALUES)).retry_count == 1
        sink._writer.write(plan("next", "a", VALUES))
    assert values_of(servers, "a") == VALUES * 2


def test_a_driver_whose_transaction_timed_out_goes_on(servers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with TransactionalSink(servers, name="s", transaction_timeout_ms=1500) as sink, Admin(servers) as admin:

        def wait_for_the_coordinator() -> None:
            def is_aborted() -> bool:
                found = admin.describe_transaction(sink.transactional_id)
                return found is not None and found.state == "CompleteAbort"

            wait_for("the transaction times out", is_aborted)

        at_first(monkeypatch, "before-offsets", wait_for_the_coordinator)
        assert sink._writer.write(plan("t", "a", VALUES)).retry_count == 1
        sink._writer.write(plan("next", "a", VALUES))
    assert values_of(servers, "a") == VALUES * 2


def test_a_driver_that_was_replaced_in_the_middle_of_its_transaction_does_not_go_on(
    servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TransactionalSink(servers, name="s") as replaced, TransactionalSink(servers, name="s") as newer:
        at_first(monkeypatch, "before-offsets", lambda: newer._writer.write(plan("newer", "a", VALUES)) and None)
        with pytest.raises(FencedByAnotherDriver):
            replaced._writer.write(plan("replaced", "a", [b"never"]))
        time.sleep(0.1)
        newer._writer.write(plan("next", "a", VALUES))
    assert values_of(servers, "a") == VALUES * 2
