"""The Java producer, consumer and admin client against our broker: both versions, one program for each subject."""

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.java.conftest import SETTINGS
from tests.interop.java.java_program import JavaClient
from tests.interop.java.topics import create_topics

pytestmark = pytest.mark.kafka


def test_records_come_back_as_they_were_sent_with_every_codec(broker: EmbeddedBroker, java: JavaClient) -> None:
    said = java.run("ProduceConsume", broker.bootstrap_servers)
    assert said == [f"{codec} 200" for codec in ("none", "gzip", "snappy", "lz4", "zstd")]


def test_transactions_from_first_to_last(broker: EmbeddedBroker, java: JavaClient) -> None:
    create_topics(broker, {"tx-life": 3, "tx-zombie": 1, "tx-slow": 1})
    said = java.run("Transactions", broker.bootstrap_servers)
    assert [line.rsplit(" ", 1)[0] for line in said] == ["committed 39 of", "offsets", "fenced", "timed out"]


def test_a_newer_client_falls_back_to_the_classic_flow_where_the_broker_offers_no_other(java_4: JavaClient) -> None:
    with EmbeddedBroker(settings=SETTINGS | {"transaction.version": "1"}) as broker:
        create_topics(broker, {"tx-life": 3, "tx-zombie": 1, "tx-slow": 1})
        said = java_4.run("Transactions", broker.bootstrap_servers)
    assert [line.rsplit(" ", 1)[0] for line in said] == ["committed 39 of", "offsets", "fenced", "timed out"]


def test_what_administrators_ask(broker: EmbeddedBroker, java: JavaClient) -> None:
    said = java.run("AdminCalls", broker.bootstrap_servers)
    assert said == ["cluster", "topics", "settings", "records", "groups", "transactions", "deletion"]
