"""The ledger as a topic: made, read to its end, looked at before anybody has a right to it."""

import pytest

from fencepost.client import Producer
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink import ledger as ledger_module
from fencepost.spark.sink.ledger import Ledger


def opened(servers: str, name: str) -> Ledger:
    ledger = Ledger(KafkaOptions(servers), namespace="default", name=name)
    ledger.open([])
    return ledger


def test_a_ledger_can_be_read_as_soon_as_it_is_made(cluster: str) -> None:
    for number in range(20):
        ledger = opened(cluster, f"fresh-{number}")
        assert ledger.look() == {}
        assert ledger.read() == {}


def test_what_is_decided_can_be_looked_at_and_what_is_open_cannot(
    servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "LOOK_TIMEOUT_S", 0.05)
    ledger = opened(servers, "looked-at")
    assert ledger.look() == {}
    with Producer(servers, transactional_id="driver") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(ledger.topic, key=b"token", value=b"first")
        producer.flush()
        assert ledger.look() is None, "it may be committed yet, and then this would be the wrong answer"
        producer.commit_transaction()
        assert ledger.look() == {b"token": b"first"}
        producer.begin_transaction()
        producer.send(ledger.topic, key=b"token", value=b"second")
        producer.abort_transaction()
        assert ledger.look() == {b"token": b"first"}
