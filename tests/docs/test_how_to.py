"""The how-to pages: every block is run, on our broker and, where it says so, on Apache Kafka and a Spark cluster."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fencepost.lab.apache_kafka import ApacheCluster, free_ports
from fencepost.server.embedded import EmbeddedBroker
from tests.docs.page_blocks import read_blocks
from tests.docs.terminal import Reader
from tests.peers import ROOT, SPARK_CONNECTOR_JARS, apache_kafka, require_jars

PAGES = ROOT / "docs" / "how-to"
ADDRESS = "127.0.0.1:9092"
INSTALLED = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def servers(request: pytest.FixtureRequest) -> Iterator[str]:
    with EmbeddedBroker() if request.param == "fencepost" else apache_kafka() as broker:
        yield broker.bootstrap_servers


def follow(page: str, folder: Path, replaced: Mapping[str, str] | None = None, *, home: Path | None = None) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    assert [old for old in replaced or {} if old not in text] == []
    desk = folder / "typed"
    desk.mkdir()
    with Reader(home or folder, desk, INSTALLED) as reader:
        reader.follow(read_blocks(text, replaced))


def test_a_blocked_reader_is_found_and_freed(servers: str, tmp_path: Path) -> None:
    follow("find-a-blocked-reader.md", tmp_path, {ADDRESS: servers})


def test_a_service_is_tested_with_the_fixture(tmp_path: Path) -> None:
    follow("test-your-service.md", tmp_path)


@pytest.mark.deep
@pytest.mark.kafka
@pytest.mark.timeout(3600)
def test_a_pipeline_moves_to_apache_kafka_and_a_spark_cluster(tmp_path: Path) -> None:
    require_jars()
    [spark_port] = free_ports(1)
    with EmbeddedBroker() as old, ApacheCluster() as new:
        replaced = {
            "kafka-1:9092,kafka-2:9092,kafka-3:9092": new.bootstrap_servers,
            ADDRESS: old.bootstrap_servers,
            "127.0.0.1:7077": f"127.0.0.1:{spark_port}",
            "--port 7077": f"--port {spark_port}",
            "/tmp/fencepost-worker": str(tmp_path / "worker"),
        }
        follow("move-to-apache-kafka.md", tmp_path, replaced)


@pytest.mark.deep
@pytest.mark.kafka
@pytest.mark.timeout(3600)
def test_a_query_migrates_from_sparks_own_sink(tmp_path: Path) -> None:
    require_jars(SPARK_CONNECTOR_JARS)
    with EmbeddedBroker() as broker:
        replaced = {ADDRESS: broker.bootstrap_servers, "/tmp/fencepost-migration": str(tmp_path / "migration")}
        follow("migrate-from-sparks-kafka-sink.md", tmp_path, replaced, home=ROOT)
