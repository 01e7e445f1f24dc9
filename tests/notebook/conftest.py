"""Every test that asks for `servers` runs against our broker and, where its jars are, against Apache Kafka."""

from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.peers import apache_kafka


@pytest.fixture(scope="session")
def fencepost_servers() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def kafka_servers() -> Iterator[str]:
    with apache_kafka() as broker:
        yield broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def servers(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{request.param}_servers")
    return found
