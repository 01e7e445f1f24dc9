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
from fencepost.spark.sink_errors import FencedByAnotherDriver
from tests.interop.support import wait_for
from tests.peers import require_jars
from tests.spark.sink.by_hand import at_first, plan
from tests.spark.sink.test_writer import VALUES, values_of

SETTINGS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}
KAFKA_1 = pytest.param(("kafka", "1"), marks=pytest.mark.kafka, id="kafka-1")
KAFKA_2 = pytest.param(("kafka", "2"), marks=pytest.mark.kafka, id="kafka-2")


@pytest.fixture(
    params=[pytest.param(("ours", "1"), id="ours-1"), pytest.param(("ours", "2"), id="ours-2"), KAFKA_1, KAFKA_2]
)
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    """A broker of each of the two transaction flows, with two topics."""
    kind, version = request.param
    if kind == "kafka":
        require_jars()
        running: Any = ApacheKafka(
            settings=SETTINGS,
            heap="512m",
            java_options=SHORT_LIVED,
            format_options=("--feature", f"transaction.version={version}"),
        )
    else:
        running = EmbeddedBroker(settings=SETTINGS | {"transaction.version": version})
    with running as broker:
        with Admin(broker.bootstrap_servers) as admin:
            admin.create_topic("a")
        yield broker.bootstrap_servers


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
