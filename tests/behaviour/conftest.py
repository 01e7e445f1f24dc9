"""Every test of this folder runs twice: against our broker and, where its jars are, against Apache Kafka."""

from collections.abc import Iterator

import pytest

from fencepost.lab.apache_kafka import ApacheKafka
from fencepost.server.embedded import EmbeddedBroker
from fencepost.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.behaviour.peer import Client, Peer, until
from tests.peers import require_jars

SETTINGS = {
    "log.retention.ms": "-1",  # records carry times of long ago, and the first check comes after half a minute
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "200",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
GROUP, TRANSACTION = 0, 1


@pytest.fixture(scope="session")
def fencepost_servers() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS) as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def kafka_servers() -> Iterator[str]:
    require_jars()
    with ApacheKafka(settings=SETTINGS, heap="512m") as broker:
        wait_for_coordinators(broker.bootstrap_servers)
        yield broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def peer(request: pytest.FixtureRequest) -> Iterator[Peer]:
    found = Peer(request.param, request.getfixturevalue(f"{request.param}_servers"))
    yield found
    found.close()


def wait_for_coordinators(bootstrap_servers: str) -> None:
    """Kafka makes its internal topics when it is first asked for a coordinator."""
    with Client(bootstrap_servers) as client:
        for key_type in (GROUP, TRANSACTION):
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["any"])
            until(lambda request=request: client.put(request, 4), lambda answer: answer.coordinators[0].error_code == 0)
