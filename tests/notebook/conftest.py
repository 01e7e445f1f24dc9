"""Every test that asks for `servers` runs against our broker and, where its jars are, against Apache Kafka."""

from collections.abc import Iterator

import pytest

from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.lab.apache_kafka import ApacheKafka
from fencepost.server.embedded import EmbeddedBroker
from tests.peers import require_jars


@pytest.fixture(scope="session")
def fencepost_servers() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def kafka_servers() -> Iterator[str]:
    require_jars()
    with ApacheKafka(heap="512m") as broker:
        cluster = Cluster(broker.bootstrap_servers, ClientSettings())
        for kind in CoordinatorType:
            cluster.coordinator(kind, "any", Deadline(60))
        cluster.close()
        yield broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def servers(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{request.param}_servers")
    return found
