"""The demonstration's verdict, on topics whose faults are known."""

from collections.abc import Iterable

import pytest

from fencepost.client import Admin, Producer
from fencepost.lab.demo import purchases
from fencepost.lab.demo.purchases import Judgement, judge
from fencepost.server.embedded import EmbeddedBroker


def judged(broker: EmbeddedBroker, *, bought: int, invoiced: Iterable[int], shipped: Iterable[int]) -> Judgement:
    servers = broker.bootstrap_servers
    with Producer(servers) as producer:
        for topic, numbers in ((purchases.TOPIC, range(bought)), ("invoices", invoiced), ("shipments", shipped)):
            for number in numbers:
                producer.send(topic, value=purchases.purchase(number), key=purchases.purchase_key(number))
    return judge(servers, invoices="invoices", shipments="shipments")


def test_one_invoice_and_one_shipment_for_each_purchase_is_exactly_once(fencepost_broker: EmbeddedBroker) -> None:
    verdict = judged(fencepost_broker, bought=5, invoiced=range(5), shipped=range(5))
    assert verdict == Judgement(purchases=5, invoices=5, shipments=5, duplicates=0, lost=0, torn=0)
    assert verdict.is_exactly_once


@pytest.mark.parametrize(
    ("invoiced", "shipped", "duplicates", "lost", "torn"),
    [
        ((0, 1, 1, 1, 2), (0, 1, 2), 2, 0, 0),
        ((0, 1), (0, 1), 0, 2, 0),
        ((0, 1, 2), (0, 1), 0, 1, 1),
        ((0, 1, 2, 7), (0, 1, 2), 1, 0, 0),
    ],
    ids=["repeated", "lost", "torn", "invented"],
)
def test_every_fault_is_counted(
    fencepost_broker: EmbeddedBroker,
    invoiced: tuple[int, ...],
    shipped: tuple[int, ...],
    duplicates: int,
    lost: int,
    torn: int,
) -> None:
    verdict = judged(fencepost_broker, bought=3, invoiced=invoiced, shipped=shipped)
    assert (verdict.duplicates, verdict.lost, verdict.torn) == (duplicates, lost, torn)
    assert not verdict.is_exactly_once


def test_what_was_aborted_is_not_seen(fencepost_broker: EmbeddedBroker) -> None:
    servers = fencepost_broker.bootstrap_servers
    with Producer(servers, transactional_id="shop") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send("invoices", value=b"", key=purchases.purchase_key(0))
        producer.flush()
        producer.abort_transaction()
    verdict = judged(fencepost_broker, bought=1, invoiced=[0], shipped=[0])
    assert verdict.is_exactly_once
    assert verdict.invoices == 1


def test_a_stream_of_purchases_sends_each_number_once(fencepost_broker: EmbeddedBroker) -> None:
    with Admin(fencepost_broker.bootstrap_servers) as admin:
        for topic in ("invoices", "shipments"):
            admin.create_topic(topic, 1, 1)
    seen: list[int] = []
    stream = purchases.PurchaseStream(fencepost_broker.bootstrap_servers, per_second=200, on_sent=seen.append)
    stream.start()
    while len(seen) < 3:
        assert stream.problem is None
    sent = stream.stop()
    verdict = judge(fencepost_broker.bootstrap_servers, invoices="invoices", shipments="shipments")
    assert verdict.purchases == sent == seen[-1]
    assert verdict.lost == 2 * sent
