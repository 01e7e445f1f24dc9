"""What the explanation pages say about Apache Kafka is what their programs print when they are run on it."""

import shutil
from collections.abc import Iterator

import pytest

from examples.documents.stage import BROKER_SETTINGS
from examples.limitations import one_copy
from fencepost.lab.apache_kafka import ApacheCluster
from tests.limitations.pages import DISAGREE, LIMITATIONS, Shown, run, shown_on
from tests.peers import apache_kafka, require_jars

pytestmark = [pytest.mark.kafka, pytest.mark.deep]

ON_KAFKA = [shown for page in (DISAGREE, LIMITATIONS) for shown in shown_on(page) if shown.on_kafka is not None]
OFTEN = {
    "log.cleaner.backoff.ms": "200",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
}
"""Compaction and retention come soon."""


@pytest.fixture(scope="module")
def kafka_servers() -> Iterator[str]:
    with apache_kafka(BROKER_SETTINGS | OFTEN) as broker:
        yield broker.bootstrap_servers


@pytest.mark.parametrize("shown", ON_KAFKA, ids=[shown.name for shown in ON_KAFKA])
def test_a_program_prints_on_apache_kafka_what_its_page_says(shown: Shown, kafka_servers: str) -> None:
    assert run(shown.module, "--bootstrap-servers", kafka_servers) == shown.on_kafka


def test_a_cluster_of_three_nodes_loses_a_disk_and_no_record() -> None:
    require_jars()
    with ApacheCluster() as cluster:

        def lose_a_disk() -> None:
            node = cluster.nodes[1]
            node.kill()
            shutil.rmtree(node.folder / "data")

        account, counts = one_copy.play(cluster.bootstrap_servers, lose_a_disk)
    assert counts == {"copies": 3}
    assert account.count_in == account.count_out == one_copy.COUNT
    assert not account.anomalies


def test_the_java_client_has_the_defaults_that_the_page_shows() -> None:
    require_jars()
    printed = run("examples.questions.defaults", "--apache-kafka")
    assert f"```text\n{printed}```" in DISAGREE.read_text(encoding="utf-8")
