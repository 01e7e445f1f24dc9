"""Every test that asks for `servers` runs against our broker and, where its jars are, against Apache Kafka."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.cli.running import Cli

SETTINGS = {
    "num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
numbers = itertools.count(1)


@pytest.fixture(scope="session")
def fencepost_servers() -> Iterator[str]:
    with EmbeddedBroker(settings=SETTINGS) as broker:
        yield broker.bootstrap_servers


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def servers(request: pytest.FixtureRequest) -> str:
    found = request.getfixturevalue(f"{request.param}_servers")
    assert isinstance(found, str)
    return found


@pytest.fixture
def cli(servers: str) -> Cli:
    return Cli(servers)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses, for topics, groups and transactional ids."""
    return f"{request.function.__name__.removeprefix('test_')[:40]}-{next(numbers)}"


@pytest.fixture
def topic(cli: Cli, name: str) -> str:
    """A topic with two partitions."""
    cli("topics", "create", name, "--partitions", "2")
    return name


class Folder:
    """A data folder, and the broker that may be working in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def broker(self) -> EmbeddedBroker:
        return EmbeddedBroker(data=self.path, settings=SETTINGS)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "data")
