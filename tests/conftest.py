"""Which tests run: `kafka` ones where the jars of `make kafka` are, `deep` ones with TEST_DEPTH=full, which leaves out
the `shallow` ones: a deep one does the same and more.

REQUIRE_APACHE_KAFKA=1 turns the skips of `kafka` tests into failures, so that a run that must not miss them cannot.
"""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from fencepost.lab.apache_kafka import ApacheKafka
from tests.peers import apache_kafka, delete_topics
from tests.spark_commands import SparkCommands

REQUIRE = "REQUIRE_APACHE_KAFKA"
DEPTH = "TEST_DEPTH"
WHY = {"deep": f"takes long: {DEPTH}=full make test runs it", "shallow": "a deeper test does the same and more"}
ALONE = ("unit", "house", "golden", "properties")
"""Folders without brokers and threads: they come first, before those of other folders are in the same process, which
would add to what they count (memory, threads, open files)."""
LONGEST = ("spark", "documents_running", "kill", "docs", "behaviour_client", "interop", "behaviour")
"""Folders that wait for Spark, for processes that are killed, or for Apache Kafka."""

KAFKA_SETTINGS = {
    "log.retention.ms": "-1",  # records carry times of long ago, and the first check comes after half a minute
    "num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "200",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}

# Spark starts a hundred times and lives for seconds: its JVM's second compiler would work for nobody. Programs that
# tests start (examples, commands of the documents) inherit it.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
# For a handful of rows compiling a query costs more than running it. What it computes is the same.
NO_CODEGEN = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
os.environ.setdefault(
    "PYSPARK_SUBMIT_ARGS",
    " ".join([*(f"--conf {name}={value}" for name, value in NO_CODEGEN.items()), "pyspark-shell"]),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        share_out(config.rootpath, items)
    marker = left_out()
    for item in items:
        if item.get_closest_marker(marker):
            item.add_marker(pytest.mark.skip(reason=WHY[marker]))


def left_out() -> str:
    """The marker of what this depth leaves out."""
    return "shallow" if os.environ.get(DEPTH) == "full" else "deep"


def share_out(root: Path, items: list[pytest.Item]) -> None:
    """Workers take the files in this order: a long one begun last would be waited for by the others."""
    deep_files = {item.path for item in items if item.get_closest_marker("deep")}

    def place(item: pytest.Item) -> tuple[bool, bool, int]:
        folder = item.path.relative_to(root).parts[1]
        length = LONGEST.index(folder) if folder in LONGEST else len(LONGEST)
        return folder not in ALONE, item.path not in deep_files, length

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_required = os.environ.get(REQUIRE, "0") not in ("", "0")
    is_left_for_depth = item.get_closest_marker(left_out()) is not None
    is_skipped = report.skipped and not hasattr(report, "wasxfail")
    if is_required and is_skipped and item.get_closest_marker("kafka") and not is_left_for_depth:
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE} is set, and this test was skipped: {call.excinfo and call.excinfo.value}"
    return report


@pytest.fixture(scope="session")
def kafka() -> Iterator[ApacheKafka]:
    """One Apache Kafka for all tests of a worker: each has topics, groups and transactional ids of its own names."""
    with apache_kafka(KAFKA_SETTINGS) as running:
        yield running


@pytest.fixture(scope="session")
def kafka_servers(kafka: ApacheKafka) -> str:
    return kafka.bootstrap_servers


@pytest.fixture
def empty_kafka_servers(kafka_servers: str) -> str:
    """For a test whose names are not its own: no topics are there. Transactional ids stay, as they do in life."""
    delete_topics(kafka_servers)
    return kafka_servers


@pytest.fixture(scope="session")
def spark_commands() -> Iterator[SparkCommands]:
    """One process for all commands of a worker that run Spark, where they are not what is killed."""
    commands = SparkCommands()
    yield commands
    commands.close()
