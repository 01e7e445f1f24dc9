"""Every test that asks for `broker` runs against ours, as a process of its own, and against Apache Kafka."""

from collections.abc import Callable, Iterator

import pytest

from examples.documents.served_broker import ServedBroker
from examples.documents.stage import BROKER_SETTINGS, QUICK_SESSION_MS, Broker, Stage
from fencepost.errors import FencepostError
from fencepost.lab.apache_kafka import ApacheKafka
from tests.peers import require_jars


@pytest.fixture
def fencepost_process() -> Iterator[ServedBroker]:
    with ServedBroker() as broker:
        yield broker


@pytest.fixture(scope="session")
def kafka_process() -> Iterator[ApacheKafka]:
    require_jars()
    with ApacheKafka(settings=BROKER_SETTINGS, heap="512m") as broker:
        yield broker


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=[pytest.mark.kafka, pytest.mark.deep])])
def broker(request: pytest.FixtureRequest) -> Broker:
    found: Broker = request.getfixturevalue(f"{request.param}_process")
    if isinstance(found, ApacheKafka):
        _see_that_it_runs(found)
    return found


def _see_that_it_runs(kafka: ApacheKafka) -> None:
    """A story that failed may have left it dead; the next one is not to blame."""
    try:
        _ = kafka.process_id
    except FencepostError:
        kafka.start()


@pytest.fixture
def open_stage(broker: Broker) -> Callable[[], Stage]:
    """A stage on this broker; the test is its `with`."""
    return lambda: Stage(broker.bootstrap_servers, session_timeout_ms=QUICK_SESSION_MS, broker=broker)
