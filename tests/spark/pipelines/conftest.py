from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker


@pytest.fixture
def servers() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        yield broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def cluster(request: pytest.FixtureRequest) -> str:
    """Our broker and, where its jars are, Apache Kafka."""
    return str(request.getfixturevalue("servers" if request.param == "fencepost" else "empty_kafka_servers"))
