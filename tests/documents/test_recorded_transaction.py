"""The shop's transaction, recorded, is the documents' numbered steps: seed 000's twelve, and the lists of 003 and
004.

The client is librdkafka, which speaks the classic flow that the documents describe. The page
docs/transaction-walkthrough.md shows this recording; it is compared with it here.
"""

import re
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from fencepost.lab.recording import Recording, record
from fencepost.server.embedded import EmbeddedBroker

PAGE = Path(__file__).resolve().parents[2] / "docs" / "transaction-walkthrough.md"
GROUP = "purchasesConsumerGroupId"
TRANSACTIONAL_ID = "shop-0"
OFFSETS_PARTITION = "__consumer_offsets-20"
STATE_PARTITION = "__transaction_state-21"

EXPECTED = {
    "1, 2  initTransactions()": [
        "-> FindCoordinator",
        "-> InitProducerId",
        "   STATE: shop-0 is Empty",
    ],
    "4  beginTransaction()": [],
    "5, 6  send() to invoices": [
        "-> AddPartitionsToTxn",
        "   STATE: shop-0 is Ongoing [invoices-0]",
        "-> Produce",
        "   invoices-0: 1 transactional record(s), sequence 0",
    ],
    "5, 6  send() to shipments": [
        "-> AddPartitionsToTxn",
        "   STATE: shop-0 is Ongoing [invoices-0, shipments-0]",
        "-> Produce",
        "   shipments-0: 1 transactional record(s), sequence 0",
    ],
    "5, 6  send() to invoices again": [
        "-> Produce",
        "   invoices-0: 1 transactional record(s), sequence 1",
    ],
    "7, 8  sendOffsetsToTransaction()": [
        "-> AddOffsetsToTxn",
        "   STATE: shop-0 is Ongoing [OFFSETS, invoices-0, shipments-0]",
        "-> FindCoordinator",
        "-> TxnOffsetCommit",
        "   OFFSETS: pending offset 1 of purchasesConsumerGroupId for purchases-0",
    ],
    "9, 10, 11  commitTransaction()": [
        "-> EndTxn",
        "   STATE: shop-0 is PrepareCommit [OFFSETS, invoices-0, shipments-0]",
        "   OFFSETS: COMMIT marker",
        "   invoices-0: COMMIT marker",
        "   shipments-0: COMMIT marker",
        "   STATE: shop-0 is CompleteCommit",
    ],
}


def test_the_recorded_transaction_is_the_documents_numbered_steps() -> None:
    with EmbeddedBroker() as broker:
        assert played(broker) == EXPECTED


def test_the_page_shows_the_recording() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = {
        title: [line for line in body.splitlines() if line]
        for title, body in re.findall(r"### (.+?)\n\n(?:.*?\n\n)*?```text\n(.*?)```", page, flags=re.DOTALL)
    }
    assert shown == {title: lines or ["(nothing)"] for title, lines in EXPECTED.items()}


def played(broker: EmbeddedBroker) -> dict[str, list[str]]:
    for topic in ("purchases", "invoices", "shipments"):
        Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0}).list_topics(topic, timeout=10)
    recording = record(broker.core, client_id=TRANSACTIONAL_ID)
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": TRANSACTIONAL_ID,
            "client.id": TRANSACTIONAL_ID,
            "log_level": 0,
        }
    )
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP, "log_level": 0})
    steps: list[Callable[[], object]] = [
        lambda: producer.init_transactions(30),
        producer.begin_transaction,
        lambda: send(producer, "invoices"),
        lambda: send(producer, "shipments"),
        lambda: send(producer, "invoices"),
        lambda: producer.send_offsets_to_transaction(
            [TopicPartition("purchases", 0, 1)], consumer.consumer_group_metadata(), 30
        ),
        lambda: producer.commit_transaction(30),
    ]
    seen = {}
    for title, step in zip(EXPECTED, steps, strict=True):
        step()
        seen[title] = shortened(recording)
    consumer.close()
    return seen


def send(producer: Producer, topic: str) -> None:
    producer.produce(topic, b"...", partition=0)
    producer.flush(30)


def shortened(recording: Recording) -> list[str]:
    """The two internal partitions by their role, and a request that the client repeats at once only once."""
    lines = [line.replace(STATE_PARTITION, "STATE").replace(OFFSETS_PARTITION, "OFFSETS") for line in recording.take()]
    return [line for line, before in zip(lines, ["", *lines], strict=False) if line != before]
