"""Every test that asks for `broker` runs against ours, as a process of its own, and against Apache Kafka."""

from collections.abc import Callable, Iterator

import pytest

from examples.documents.served_broker import ServedBroker
from examples.documents.stage import BROKER_SETTINGS, QUICK_SESSION_MS, Broker, Stage
from fencepost.lab.apache_kafka import ApacheKafka
from tests.peers import apache_kafka


@pytest.fixture
def fencepost_process() -> Iterator[ServedBroker]:
    with ServedBroker() as broker:
        yield broker


@pytest.fixture
def kafka_process() -> Iterator[ApacheKafka]:
    """A new one for each test: killed in mid-transaction, Kafka may leave one that never ends and blocks the next."""
    with apache_kafka(BROKER_SETTINGS) as broker:
        yield broker


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=[pytest.mark.kafka, pytest.mark.deep])])
def broker(request: pytest.FixtureRequest) -> Broker:
    found: Broker = request.getfixturevalue(f"{request.param}_process")
    return found


@pytest.fixture
def open_stage(broker: Broker) -> Callable[[], Stage]:
    """A stage on this broker; the test is its `with`."""
    return lambda: Stage(broker.bootstrap_servers, session_timeout_ms=QUICK_SESSION_MS, broker=broker)
