"""A broker with short timers for every module of interop tests, topics with fresh names, quiet clients."""

import itertools
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from fencepost.server.embedded import EmbeddedBroker

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas by a deprecated call
    import kafka.admin  # noqa: F401

# Kafka's waiting times, cut to what a test can wait for.
QUICK_TIMERS = {
    "log.retention.ms": "-1",  # records carry times of long ago, and the first check comes after half a minute
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.consumer.session.timeout.ms": "1500",
    "group.consumer.heartbeat.interval.ms": "200",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
numbers = itertools.count(1)


@pytest.fixture(scope="session", autouse=True)
def quiet_clients() -> None:
    for name in ("kafka", "aiokafka"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings=QUICK_TIMERS) as running:
        yield running


@pytest.fixture
def broker_with() -> Iterator[Callable[..., EmbeddedBroker]]:
    """Starts a broker with settings of one's own on top of the quick timers."""
    with ExitStack() as running:
        yield lambda settings: running.enter_context(EmbeddedBroker(settings=QUICK_TIMERS | settings))


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses, for topics, groups and transactional ids."""
    return f"{request.function.__name__[:60]}-{next(numbers)}"
