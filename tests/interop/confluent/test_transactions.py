"""The life of a transaction through librdkafka: commit, abort, fencing, offsets, time-out, and a copier that dies."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import consumer, create_topic, producer, read, read_all, send
from tests.interop.copier_life import PARTITIONS, two_copiers_rebalance_and_one_is_killed
from tests.interop.support import DEADLINE_S, wait_for

Values = Callable[[str], list[bytes | None]]
GROUP_SETTINGS = {
    "eager": {"session_timeout_ms": 1500, "heartbeat_interval_ms": 200, "partition_assignment_strategy": "range"},
    "cooperative": {
        "session_timeout_ms": 1500,
        "heartbeat_interval_ms": 200,
        "partition_assignment_strategy": "cooperative-sticky",
    },
    "kip-848": {"group_protocol": "consumer"},
}


@pytest.fixture
def values(broker: EmbeddedBroker, name: str) -> Values:
    """What a reader of an isolation level sees in the test's topic."""
    create_topic(broker.bootstrap_servers, name)
    return lambda isolation_level: [
        message.value() for message in read_all(broker.bootstrap_servers, name, isolation_level=isolation_level)
    ]


def transactional(broker: EmbeddedBroker, transactional_id: str, **settings: Any) -> Producer:
    client = producer(broker.bootstrap_servers, transactional_id=transactional_id, **settings)
    client.init_transactions(DEADLINE_S)
    return client


def test_a_commit_shows_everything_and_an_abort_nothing(broker: EmbeddedBroker, name: str, values: Values) -> None:
    client = transactional(broker, name)
    client.begin_transaction()
    client.produce(name, b"kept 1")
    client.produce(name, b"kept 2")
    client.commit_transaction(DEADLINE_S)
    client.begin_transaction()
    send(client, name, b"dropped")
    client.abort_transaction(DEADLINE_S)
    client.begin_transaction()
    client.produce(name, b"kept 3")
    client.commit_transaction(DEADLINE_S)
    assert values("read_committed") == [b"kept 1", b"kept 2", b"kept 3"]
    assert values("read_uncommitted") == [b"kept 1", b"kept 2", b"dropped", b"kept 3"]


def test_a_committed_reader_stops_before_an_open_transaction(broker: EmbeddedBroker, name: str, values: Values) -> None:
    plain = producer(broker.bootstrap_servers)
    send(plain, name, b"before")
    client = transactional(broker, name)
    client.begin_transaction()
    send(client, name, b"open")
    send(plain, name, b"after")
    assert values("read_committed") == [b"before"]
    assert values("read_uncommitted") == [b"before", b"open", b"after"]
    client.commit_transaction(DEADLINE_S)
    assert values("read_committed") == [b"before", b"open", b"after"]


def test_a_second_instance_fences_the_first_and_aborts_what_it_left_open(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    zombie = transactional(broker, name)
    zombie.begin_transaction()
    send(zombie, name, b"of the zombie")
    heir = transactional(broker, name)
    with pytest.raises(KafkaException) as fenced:
        zombie.commit_transaction(DEADLINE_S)
    assert fenced.value.args[0].code() == KafkaError._FENCED
    assert fenced.value.args[0].fatal()
    heir.begin_transaction()
    send(heir, name, b"of the heir")
    heir.commit_transaction(DEADLINE_S)
    assert values("read_committed") == [b"of the heir"]
    assert values("read_uncommitted") == [b"of the zombie", b"of the heir"]


def test_a_zombie_cannot_write_either(broker: EmbeddedBroker, name: str, values: Values) -> None:
    zombie = transactional(broker, name)
    zombie.begin_transaction()
    send(zombie, name, b"early")
    transactional(broker, name)
    zombie.produce(name, b"late")
    with pytest.raises(KafkaException) as fenced:
        zombie.commit_transaction(DEADLINE_S)
    assert fenced.value.args[0].code() == KafkaError._FENCED
    assert values("read_uncommitted") == [b"early"]


def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    client = transactional(broker, name, transaction_timeout_ms=1000, socket_timeout_ms=1000)
    client.begin_transaction()
    send(client, name, b"slow")
    plain = producer(broker.bootstrap_servers)
    send(plain, name, b"waiting")
    assert values("read_committed") == []
    wait_for("the broker's abort", lambda: values("read_committed") == [b"waiting"])
    with pytest.raises(KafkaException) as fenced:
        client.commit_transaction(DEADLINE_S)
    assert fenced.value.args[0].code() == KafkaError._FENCED
    assert values("read_committed") == [b"waiting"]


@pytest.fixture
def committed(broker: EmbeddedBroker, name: str) -> Iterator[Callable[[], int]]:
    with consumer(broker.bootstrap_servers, group_id=name) as observer:
        yield lambda: observer.committed([TopicPartition(name, 0)], DEADLINE_S)[0].offset


def test_offsets_of_a_transaction_count_when_it_commits_and_not_when_it_aborts(
    broker: EmbeddedBroker, name: str, values: Values, committed: Callable[[], int]
) -> None:
    send(producer(broker.bootstrap_servers), name, b"input")
    client = transactional(broker, name)
    with consumer(broker.bootstrap_servers, group_id=name) as member:
        member.subscribe([name])
        read(member, 1)
        metadata = member.consumer_group_metadata()
        client.begin_transaction()
        client.send_offsets_to_transaction([TopicPartition(name, 0, 1)], metadata, DEADLINE_S)
        client.abort_transaction(DEADLINE_S)
        assert committed() == -1001
        client.begin_transaction()
        client.send_offsets_to_transaction([TopicPartition(name, 0, 1)], metadata, DEADLINE_S)
        client.commit_transaction(DEADLINE_S)
        assert committed() == 1


def test_offsets_of_a_member_that_is_no_longer_in_the_group_are_refused(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    client = transactional(broker, name)
    with consumer(broker.bootstrap_servers, group_id=name) as member:
        member.subscribe([name])
        wait_for("an assignment", lambda: member.poll(0.1) or member.assignment())
        metadata = member.consumer_group_metadata()
    client.begin_transaction()
    with pytest.raises(KafkaException) as refused:
        client.send_offsets_to_transaction([TopicPartition(name, 0, 1)], metadata, DEADLINE_S)
    assert refused.value.args[0].txn_requires_abort()
    client.abort_transaction(DEADLINE_S)


@pytest.mark.parametrize("kind", GROUP_SETTINGS)
def test_two_copiers_that_rebalance_while_one_is_killed_copy_each_record_once(
    broker: EmbeddedBroker, name: str, tmp_path: Path, kind: str
) -> None:
    source, target = f"{name}-source", f"{name}-target"
    create_topic(broker.bootstrap_servers, source, partitions=PARTITIONS)
    create_topic(broker.bootstrap_servers, target, partitions=PARTITIONS)

    def produce(values: list[bytes]) -> None:
        client = producer(broker.bootstrap_servers, enable_idempotence=True)
        for number, value in enumerate(values):
            client.produce(source, value, partition=number % PARTITIONS)
        assert client.flush(DEADLINE_S) == 0

    def read_values(isolation_level: str) -> list[bytes]:
        settings = {"partitions": PARTITIONS, "isolation_level": isolation_level}
        return [message.value() or b"" for message in read_all(broker.bootstrap_servers, target, **settings)]

    two_copiers_rebalance_and_one_is_killed(
        module="tests.interop.confluent.copier",
        folder=tmp_path,
        arguments={
            "bootstrap_servers": broker.bootstrap_servers,
            "source": source,
            "target": target,
            "group": name,
            "settings": GROUP_SETTINGS[kind],
        },
        produce=produce,
        read_values=read_values,
    )
