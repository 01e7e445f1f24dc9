"""Every test of this folder runs twice: against our broker and, where its jars are, against Apache Kafka."""

from collections.abc import Iterator

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.behaviour.peer import Peer

SETTINGS = {
    "log.retention.ms": "-1",  # records carry times of long ago, and the first check comes after half a minute
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "200",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}


@pytest.fixture(scope="session")
def fencepost_servers() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS) as broker:
        yield broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def peer(request: pytest.FixtureRequest) -> Iterator[Peer]:
    found = Peer(request.param, request.getfixturevalue(f"{request.param}_servers"))
    yield found
    found.close()
