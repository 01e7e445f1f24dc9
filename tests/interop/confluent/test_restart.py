"""Clients of librdkafka that stay while the broker stops and starts again on the same folder and port."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import consumer, create_topic, producer, read, read_all, send
from tests.interop.conftest import QUICK_TIMERS
from tests.interop.support import DEADLINE_S

PARTITIONS = 3
ROUND = 300


class Restartable:
    """A broker whose folder and port outlive it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = EmbeddedBroker(data=folder, settings=QUICK_TIMERS).start()
        self.bootstrap_servers = self._running.bootstrap_servers

    def restart(self) -> None:
        port = self._running.port
        self._running.stop()
        self._running = EmbeddedBroker(data=self._folder, port=port, settings=QUICK_TIMERS).start()

    def stop(self) -> None:
        self._running.stop()


@pytest.fixture
def restartable(tmp_path: Path) -> Iterator[Restartable]:
    broker = Restartable(tmp_path / "data")
    try:
        yield broker
    finally:
        broker.stop()


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_an_idempotent_producer_and_a_group_go_on_after_restarts_with_each_record_once(
    restartable: Restartable, name: str, group_protocol: str
) -> None:
    create_topic(restartable.bootstrap_servers, name, partitions=PARTITIONS)
    client = producer(restartable.bootstrap_servers, enable_idempotence=True)
    failures: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failures.append(error)

    got: list[Message] = []
    with consumer(restartable.bootstrap_servers, group_id=name, group_protocol=group_protocol) as reader:
        reader.subscribe([name])
        for round_number in range(3):
            for number in range(round_number * ROUND, (round_number + 1) * ROUND):
                client.produce(name, b"%d" % number, partition=number % PARTITIONS, on_delivery=delivered)
                client.poll(0)
            got += read(reader, 1)
            restartable.restart()
            assert client.flush(DEADLINE_S) == 0
        got += read(reader, 3 * ROUND - len(got))
    assert failures == []
    for partition in range(PARTITIONS):
        values = [int(message.value() or b"") for message in got if message.partition() == partition]
        assert values == list(range(partition, 3 * ROUND, PARTITIONS))


def test_a_transaction_that_is_open_while_the_broker_restarts_commits_as_one(
    restartable: Restartable, name: str
) -> None:
    create_topic(restartable.bootstrap_servers, name)
    client = producer(restartable.bootstrap_servers, transactional_id=name)
    client.init_transactions(DEADLINE_S)
    client.begin_transaction()
    send(client, name, b"before")
    restartable.restart()
    assert committed_values(restartable, name) == []
    send(client, name, b"after")
    client.commit_transaction(DEADLINE_S)
    assert committed_values(restartable, name) == [b"before", b"after"]


def committed_values(broker: Restartable, topic: str) -> list[bytes | None]:
    messages = read_all(broker.bootstrap_servers, topic, isolation_level="read_committed")
    return [message.value() for message in messages]
