"""A broker for each test, both ways to publish, and Apache Kafka where its jars are."""

from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.sink import transactional_sink as sink_module

SETTINGS = {"num.partitions": "4"}


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings=SETTINGS) as running:
        yield running


@pytest.fixture
def servers(broker: EmbeddedBroker) -> str:
    return broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def cluster(request: pytest.FixtureRequest) -> str:
    """Where a test has to hold on both: our broker and Apache Kafka."""
    return str(request.getfixturevalue("servers" if request.param == "fencepost" else "empty_kafka_servers"))


@pytest.fixture(params=["driver", "executors"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["driver", "executors", pytest.param("collected", marks=pytest.mark.deep)])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The modes, and what mode driver is on a cluster, where the driver cannot read the files of its tasks."""
    if request.param != "collected":
        return str(request.param)
    monkeypatch.setattr(sink_module, "shares_files", lambda _: False)
    return "driver"
