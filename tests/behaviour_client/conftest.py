"""A test that asks for `servers` runs against our broker, with both flows of transactions, and Apache Kafka.

Only where these may differ: a test takes `one_broker` if it is about what the client does by itself, `two_flows` if
that depends on the flow of transactions, and `two_brokers` if there is no transaction in it.
"""

import itertools
from collections.abc import Iterator

import pytest

from fencepost.client.admin.admin import Admin
from fencepost.server.embedded import EmbeddedBroker
from tests.behaviour_client.fault_proxy import FaultProxy

SETTINGS = {
    "log.retention.ms": "-1",  # records carry times of long ago, and the first check comes after half a minute
    "num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
numbers = itertools.count(1)

all_brokers = pytest.mark.brokers("fencepost", "classic", "kafka")
one_broker = pytest.mark.brokers("fencepost")
two_flows = pytest.mark.brokers("fencepost", "classic")
two_brokers = pytest.mark.brokers("fencepost", "kafka")
"""Of a test, or of a module where most tests are alike: the mark of a test goes before that of its module."""


@pytest.fixture(scope="session")
def fencepost_servers() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS) as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def classic_servers() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS | {"transaction.version": "1"}) as broker:
        yield broker.bootstrap_servers


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    is_given = any("servers" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    has_its_own = hasattr(metafunc.module, "servers")
    if "servers" in metafunc.fixturenames and not is_given and not has_its_own:
        mark = metafunc.definition.get_closest_marker("brokers") or all_brokers
        chosen = [pytest.param(each, marks=pytest.mark.kafka) if "kafka" in each else each for each in mark.args]
        metafunc.parametrize("servers", chosen, indirect=True)


@pytest.fixture
def servers(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(f"{request.param}_servers")
    assert isinstance(found, str)
    return found


@pytest.fixture
def proxy(servers: str) -> Iterator[FaultProxy]:
    with FaultProxy(servers) as running:
        yield running


@pytest.fixture
def admin(servers: str) -> Iterator[Admin]:
    with Admin(servers) as client:
        yield client


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses, for topics, groups and transactional ids."""
    return f"{request.function.__name__[:60]}-{next(numbers)}"


@pytest.fixture
def topic(admin: Admin, name: str) -> str:
    """A topic with three partitions."""
    admin.create_topic(name, 3, 1)
    return name
