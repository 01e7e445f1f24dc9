"""A broker for each test, and both ways to publish."""

from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings={"num.partitions": "4"}) as running:
        yield running


@pytest.fixture
def servers(broker: EmbeddedBroker) -> str:
    return broker.bootstrap_servers


@pytest.fixture(params=["driver", "executors"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)
