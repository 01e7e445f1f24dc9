"""The examples of the client's pages run, in their order; the table of states has them all."""

import re
from pathlib import Path

import pytest

from fencepost.client import Producer
from fencepost.client.producer.transaction_manager import State
from fencepost.server.embedded import EmbeddedBroker
from tests.behaviour_client.reading import values

DOCS = Path(__file__).parents[2] / "docs"
PAGE, CONSUMER_PAGE = DOCS / "client.md", DOCS / "client-consumer.md"


def examples(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def run(page: Path, servers: str) -> None:
    for example in examples(page):
        exec(compile(example, str(page), "exec"), {"bootstrap_servers": servers})


def test_the_pages_have_an_example_for_each_part() -> None:
    assert len(examples(PAGE)) == 5
    assert len(examples(CONSUMER_PAGE)) == 3


def test_the_examples_of_the_consumer_run(fencepost_broker: EmbeddedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    servers = fencepost_broker.bootstrap_servers
    with Producer(servers) as producer:
        for value in (b"the first", b"the last"):
            producer.send("invoices", value, key=b"ada")
        for number in range(10):
            producer.send("orders", b"%d" % number)
    run(CONSUMER_PAGE, servers)
    printed = capsys.readouterr().out
    assert "invoices 0 0 b'ada' b'the first'" in printed
    assert "own and fenced: [TopicPartition(topic='orders', partition=0)]" in printed
    assert values(servers, "invoices")[2:] == [b"invoice for %d" % number for number in range(10)]


def test_the_examples_of_the_producer_run(fencepost_broker: EmbeddedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    run(PAGE, fencepost_broker.bootstrap_servers)
    printed = capsys.readouterr().out
    assert "RecordMetadata(topic='orders'" in printed
    assert "[0, 1, 2]" in printed


def test_every_state_is_explained() -> None:
    explained = re.findall(r"^\| ([A-Z_]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert explained == [state.name for state in State]
