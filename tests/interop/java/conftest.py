"""Our broker in a process of its own time scale, and the two Java clients."""

from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.java.java_program import JavaClient
from tests.peers import JAVA_3_CLIENT_JARS, KAFKA_JARS, require_jars

SETTINGS = {
    "num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "2000",
    "group.consumer.heartbeat.interval.ms": "300",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings=SETTINGS) as running:
        yield running


@pytest.fixture(scope="session")
def java_3(tmp_path_factory: pytest.TempPathFactory) -> JavaClient:
    """Client 3.9.1: the classic flow of transactions (V1)."""
    return JavaClient(require_jars(JAVA_3_CLIENT_JARS), tmp_path_factory.mktemp("java-3"))


@pytest.fixture(scope="session")
def java_4(tmp_path_factory: pytest.TempPathFactory) -> JavaClient:
    """Client 4.3.1: an epoch for every transaction (V2), and the groups of KIP-848."""
    return JavaClient(require_jars(KAFKA_JARS), tmp_path_factory.mktemp("java-4"))


@pytest.fixture(params=["java_3", "java_4"])
def java(request: pytest.FixtureRequest) -> JavaClient:
    client = request.getfixturevalue(request.param)
    assert isinstance(client, JavaClient)
    return client
