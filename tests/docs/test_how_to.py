"""The how-to pages: every block is run, on our broker and, where it says so, on Apache Kafka and a Spark cluster."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fencepost.lab.apache_kafka import ApacheKafka
from fencepost.server.embedded import EmbeddedBroker
from tests.docs.page_blocks import read_blocks
from tests.docs.terminal import Reader
from tests.peers import ROOT, require_jars

PAGES = ROOT / "docs" / "how-to"
ADDRESS = "127.0.0.1:9092"
INSTALLED = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "kafka":
        require_jars()
    with EmbeddedBroker() if request.param == "fencepost" else ApacheKafka(heap="512m") as broker:
        yield broker.bootstrap_servers


def follow(page: str, folder: Path, replaced: Mapping[str, str] | None = None) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    assert [old for old in replaced or {} if old not in text] == []
    desk = folder / "typed"
    desk.mkdir()
    with Reader(folder, desk, INSTALLED) as reader:
        reader.follow(read_blocks(text, replaced))


def test_a_blocked_reader_is_found_and_freed(servers: str, tmp_path: Path) -> None:
    follow("find-a-blocked-reader.md", tmp_path, {ADDRESS: servers})


def test_a_service_is_tested_with_the_fixture(tmp_path: Path) -> None:
    follow("test-your-service.md", tmp_path)
