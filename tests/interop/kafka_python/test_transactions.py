"""The life of a transaction through kafka-python: commit, abort, fencing, offsets, time-out, and a copier that dies."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import AbortTransactionSpec
from kafka.errors import CommitFailedError, KafkaError, ProducerFencedError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.copier_life import PARTITIONS, two_copiers_rebalance_and_one_is_killed
from tests.interop.kafka_python.clients import (
    admin,
    consumer,
    create_topic,
    producer,
    read,
    read_all,
    send,
    transactional,
)
from tests.interop.support import DEADLINE_S, wait_for

Values = Callable[[str], list[bytes | None]]


@pytest.fixture
def values(broker: EmbeddedBroker, name: str) -> Values:
    """What a reader of an isolation level sees in the test's topic."""
    create_topic(broker.bootstrap_servers, name)
    return lambda isolation_level: [
        record.value for record in read_all(broker.bootstrap_servers, name, isolation_level=isolation_level)
    ]


def test_a_commit_shows_everything_and_an_abort_nothing(broker: EmbeddedBroker, name: str, values: Values) -> None:
    with transactional(broker.bootstrap_servers, name) as client:
        client.begin_transaction()
        client.send(name, b"kept 1")
        client.send(name, b"kept 2")
        client.commit_transaction()
        client.begin_transaction()
        send(client, name, b"dropped")
        client.abort_transaction()
        client.begin_transaction()
        client.send(name, b"kept 3")
        client.commit_transaction()
    assert values("read_committed") == [b"kept 1", b"kept 2", b"kept 3"]
    assert values("read_uncommitted") == [b"kept 1", b"kept 2", b"dropped", b"kept 3"]


def test_a_committed_reader_stops_before_an_open_transaction(broker: EmbeddedBroker, name: str, values: Values) -> None:
    with producer(broker.bootstrap_servers) as plain, transactional(broker.bootstrap_servers, name) as client:
        send(plain, name, b"before")
        client.begin_transaction()
        send(client, name, b"open")
        send(plain, name, b"after")
        assert values("read_committed") == [b"before"]
        assert values("read_uncommitted") == [b"before", b"open", b"after"]
        client.commit_transaction()
        assert values("read_committed") == [b"before", b"open", b"after"]


def test_a_second_instance_fences_the_first_and_aborts_what_it_left_open(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    with transactional(broker.bootstrap_servers, name) as zombie:
        zombie.begin_transaction()
        send(zombie, name, b"of the zombie")
        with transactional(broker.bootstrap_servers, name) as heir:
            with pytest.raises(ProducerFencedError):
                zombie.commit_transaction()
            heir.begin_transaction()
            send(heir, name, b"of the heir")
            heir.commit_transaction()
    assert values("read_committed") == [b"of the heir"]
    assert values("read_uncommitted") == [b"of the zombie", b"of the heir"]


def test_a_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    with (
        producer(broker.bootstrap_servers) as plain,
        transactional(broker.bootstrap_servers, name, transaction_timeout_ms=1000) as client,
    ):
        client.begin_transaction()
        send(client, name, b"slow")
        send(plain, name, b"waiting")
        assert values("read_committed") == []
        wait_for("the broker's abort", lambda: values("read_committed") == [b"waiting"])
        with pytest.raises(KafkaError):
            client.commit_transaction()
    assert values("read_committed") == [b"waiting"]


def test_offsets_of_a_transaction_count_when_it_commits_and_not_when_it_aborts(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    part = TopicPartition(name, 0)
    ends = {part: OffsetAndMetadata(1, "note", -1)}
    with (
        producer(broker.bootstrap_servers) as plain,
        transactional(broker.bootstrap_servers, name) as client,
        consumer(broker.bootstrap_servers, name, group_id=name) as member,
    ):
        send(plain, name, b"input")
        read(member, 1)
        client.begin_transaction()
        client.send_offsets_to_transaction(ends, member.group_metadata())
        client.abort_transaction()
        assert member.committed(part) is None
        client.begin_transaction()
        client.send_offsets_to_transaction(ends, member.group_metadata())
        client.commit_transaction()
        assert member.committed(part, metadata=True)[:2] == (1, "note")


def test_offsets_of_a_member_that_is_no_longer_in_the_group_are_refused(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    with consumer(broker.bootstrap_servers, name, group_id=name) as member:
        wait_for("an assignment", lambda: member.poll(100) or member.assignment())
        metadata = member.group_metadata()
    with transactional(broker.bootstrap_servers, name) as client:
        client.begin_transaction()
        with pytest.raises(CommitFailedError):
            client.send_offsets_to_transaction({TopicPartition(name, 0): OffsetAndMetadata(1, "", -1)}, metadata)
        client.abort_transaction()


def test_an_administrator_sees_open_transactions_and_their_producers(
    broker: EmbeddedBroker, name: str, values: Values
) -> None:
    part = TopicPartition(name, 0)
    with admin(broker.bootstrap_servers) as manager, transactional(broker.bootstrap_servers, name) as client:
        client.begin_transaction()
        send(client, name, b"open")
        (listed,) = manager.list_transactions(state_filters=["Ongoing"])[1]
        assert (listed.transactional_id, listed.state.value) == (name, "Ongoing")
        described = manager.describe_transactions([name])[name]
        assert described.topic_partitions == {part}
        assert described.producer_id == listed.producer_id
        (active,) = manager.describe_producers([part])[part].active_producers
        assert active.producer_id == listed.producer_id
        assert active.current_transaction_start_offset == 0
        client.commit_transaction()
        assert manager.list_transactions(state_filters=["Ongoing"])[1] == []
        assert manager.describe_transactions([name])[name].state.value == "CompleteCommit"


def test_an_administrator_aborts_what_a_producer_left_open(broker: EmbeddedBroker, name: str, values: Values) -> None:
    part = TopicPartition(name, 0)
    with (
        admin(broker.bootstrap_servers) as manager,
        producer(broker.bootstrap_servers) as plain,
        transactional(broker.bootstrap_servers, name) as client,
    ):
        client.begin_transaction()
        send(client, name, b"hanging")
        send(plain, name, b"behind it")
        assert values("read_committed") == []
        (active,) = manager.describe_producers([part])[part].active_producers[:1]
        described = manager.describe_transactions([name])[name]
        assert active.producer_id == described.producer_id
        manager.abort_transaction(AbortTransactionSpec(part, described.producer_id, described.producer_epoch))
        assert values("read_committed") == [b"behind it"]


def test_two_copiers_that_rebalance_while_one_is_killed_copy_each_record_once(
    broker: EmbeddedBroker, name: str, tmp_path: Path
) -> None:
    source, target = f"{name}-source", f"{name}-target"
    create_topic(broker.bootstrap_servers, source, partitions=PARTITIONS)
    create_topic(broker.bootstrap_servers, target, partitions=PARTITIONS)

    def produce(values: list[bytes]) -> None:
        with producer(broker.bootstrap_servers) as client:
            for number, value in enumerate(values):
                client.send(source, value, partition=number % PARTITIONS)
            client.flush(timeout=DEADLINE_S)

    def read_values(isolation_level: str) -> list[bytes]:
        settings = {"partitions": PARTITIONS, "isolation_level": isolation_level}
        return [record.value for record in read_all(broker.bootstrap_servers, target, **settings)]

    two_copiers_rebalance_and_one_is_killed(
        module="tests.interop.kafka_python.copier",
        folder=tmp_path,
        arguments={
            "bootstrap_servers": broker.bootstrap_servers,
            "source": source,
            "target": target,
            "group": name,
        },
        produce=produce,
        read_values=read_values,
    )
