"""The examples in the help of the commands that run Spark, each as it stands: pipelines, also on a cluster of Spark's,
and the auditor. On Apache Kafka one of each kind: what differs there is below Spark.
`fencepost demo` is in tests/spark/demo.
"""

import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.cli.main import examples, walk_commands
from fencepost.client import Admin, Producer
from fencepost.server.embedded import EmbeddedBroker
from tests.examples.readme_commands import EXAMPLES, Checkout
from tests.examples.test_pipelines_readme import PURCHASE, wait_for
from tests.spark.standalone import StandaloneCluster
from tests.spark_commands import SparkCommands

pytestmark = [pytest.mark.deep, pytest.mark.timeout(3600)]
COUNT = 20
COMMANDS = dict(walk_commands())
RUN, RUN_ONCE, RUN_ON_A_CLUSTER = examples(COMMANDS["fencepost run"])
AUDITS = examples(COMMANDS["fencepost audit"])


@pytest.fixture
def fencepost_own() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        yield broker.bootstrap_servers


@pytest.fixture
def kafka_own(empty_kafka_servers: str) -> str:
    return empty_kafka_servers


@pytest.fixture
def shop(fencepost_own: str, tmp_path: Path, spark_commands: SparkCommands) -> Checkout:
    return open_shop(fencepost_own, tmp_path, spark_commands)


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def any_shop(request: pytest.FixtureRequest, tmp_path: Path, spark_commands: SparkCommands) -> Checkout:
    return open_shop(request.getfixturevalue(f"{request.param}_own"), tmp_path, spark_commands)


def open_shop(servers: str, tmp_path: Path, spark: SparkCommands) -> Checkout:
    """A folder with the files that the examples name, and a cluster with purchases and numbers."""
    for name in ("shop.py", "squares.py"):
        shutil.copy(EXAMPLES / "pipelines" / name, tmp_path)
    with Admin(servers) as admin:
        for topic in ("purchases", "tx-input"):
            admin.create_topic(topic, 2)
    buy(servers, 0)
    with Producer(servers) as producer:
        for number in range(COUNT):
            producer.send("tx-input", struct.pack(">i", number), key=b"%d" % number)
    return Checkout(tmp_path, servers, spark)


def buy(servers: str, start: int) -> None:
    """Each purchase under a key of its own, by which its invoice is known."""
    with Producer(servers) as producer:
        for number in range(start, start + COUNT):
            producer.send("purchases", json.dumps(PURCHASE).encode(), key=b"%d" % number)


def outputs(count: int) -> dict[str, int]:
    return {"invoices": count, "shipments": count}


def test_pipelines_run_as_the_examples_say_and_are_proved_as_the_examples_say(shop: Checkout) -> None:
    with shop.running(RUN) as process:
        wait_for(outputs(COUNT), shop, process)
    buy(shop.servers, COUNT)
    events = [json.loads(line) for line in shop.run(RUN_ONCE).splitlines()]
    assert sum(event.get("rows_in", 0) for event in events if event["event"] == "progress") > 0
    shop.run("fencepost run squares.py --once")
    for line in AUDITS[:-1]:
        assert "exactly once: nothing lost" in shop.run(line), line


def test_the_auditor_proves_a_run_and_then_ends_with_1_and_names_what_is_there_twice(any_shop: Checkout) -> None:
    any_shop.run(RUN_ONCE)
    assert "exactly once: nothing lost" in any_shop.run(AUDITS[-1])
    with Producer(any_shop.servers) as producer:
        for topic in ("invoices", "shipments"):
            producer.send(topic, b"made", key=b"3")
    document = json.loads(any_shop.run(f"{AUDITS[-1]} --json", exit_code=1))
    assert not document["exactly_once"]
    assert (document["input_count"], document["counts"]["duplicated"]) == (COUNT, 2)


def test_a_pipeline_runs_on_a_cluster_of_sparks_as_the_example_says(shop: Checkout, tmp_path: Path) -> None:
    with StandaloneCluster(tmp_path / "cluster") as cluster:
        line = RUN_ON_A_CLUSTER.replace("spark://host:7077", cluster.master)
        line = line.replace("hdfs:///shop", f"file://{tmp_path}/checkpoints")
        assert "host" not in line
        assert "hdfs" not in line
        with shop.running(f"env SPARK_LOCAL_IP=127.0.0.1 {line}") as process:
            wait_for(outputs(COUNT), shop, process)
