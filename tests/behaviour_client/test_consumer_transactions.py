"""Consume, transform, produce in transactions, with our producer and consumer together."""

from collections import Counter
from collections.abc import Iterator

import pytest

from fencepost.client import Consumer, PinnedProducers, Producer
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import ClientError, ProducerFenced
from tests.behaviour_client.consumer_reading import produce, read, read_all
from tests.interop.support import wait_for

PARTITIONS = 4


@pytest.fixture
def source(admin: Admin, name: str) -> str:
    admin.create_topic(f"{name}-source", PARTITIONS, 1)
    return f"{name}-source"


@pytest.fixture
def target(admin: Admin, name: str) -> str:
    admin.create_topic(f"{name}-target", PARTITIONS, 1)
    return f"{name}-target"


@pytest.fixture
def consumer(servers: str, source: str, name: str) -> Iterator[Consumer]:
    with Consumer(servers, [source], group_id=name, auto_offset_reset="earliest", max_poll_records=10) as opened:
        yield opened


@pytest.fixture
def writer(servers: str, name: str) -> Iterator[Producer]:
    with Producer(servers, transactional_id=name) as opened:
        opened.init_transactions()
        yield opened


def values(servers: str, topic: str) -> Counter[bytes]:
    return Counter(record.value for record in read_all(servers, topic))


def test_records_and_offsets_are_committed_together(
    servers: str, source: str, target: str, consumer: Consumer, writer: Producer
) -> None:
    for partition in range(PARTITIONS):
        produce(servers, source, [b"%d-%d" % (partition, n) for n in range(25)], partition=partition)
    copied = 0
    while copied < 25 * PARTITIONS:
        records = consumer.poll(1.0)
        if not records:
            continue
        with writer.transaction() as txn:
            for record in records:
                txn.send(target, record.value, partition=record.partition)
            txn.send_offsets(consumer)
        copied += len(records)
    assert values(servers, target) == values(servers, source)
    committed = {where: offset and offset.offset for where, offset in consumer.committed().items()}
    assert committed == {(source, partition): 25 for partition in range(PARTITIONS)}
    assert set(consumer.lag().values()) == {0}


def test_what_an_aborted_transaction_had_read_is_read_again(
    servers: str, source: str, target: str, consumer: Consumer, writer: Producer
) -> None:
    produce(servers, source, [b"%d" % n for n in range(30)])
    attempts = 0
    copied = 0
    while copied < 30:
        records = consumer.poll(1.0)
        if not records:
            continue
        attempts += 1
        try:
            with writer.transaction(consumer) as txn:
                for number, record in enumerate(records):
                    if attempts % 3 == 1 and number == 5:
                        raise ZeroDivisionError
                    txn.send(target, record.value, partition=0)
                txn.send_offsets(consumer)
                if attempts % 3 == 2:
                    raise ZeroDivisionError
            copied += len(records)
        except ZeroDivisionError:
            continue
    assert values(servers, target) == Counter(b"%d" % n for n in range(30))
    assert [r.value for r in read_all(servers, target)] == [b"%d" % n for n in range(30)]


def test_offsets_of_an_open_transaction_are_waited_for(
    servers: str, source: str, name: str, consumer: Consumer, writer: Producer
) -> None:
    """Exactly one of two places is right to start from; which one is known when the transaction has ended."""
    produce(servers, source, [b"%d" % n for n in range(10)])
    assert len(read(consumer, 10)) == 10
    writer.begin_transaction()
    writer.send_offsets_to_transaction({(source, 0): 4}, consumer.group_metadata())
    consumer.close()
    with Consumer(servers, group_id=name, auto_offset_reset="earliest") as successor:
        successor.assign([(source, 0)])
        assert successor.poll(0.3) == []
        writer.commit_transaction()
        assert read(successor, 6)[0].offset == 4


def test_a_producer_pinned_to_an_input_partition_fences_its_predecessor(servers: str, source: str, target: str) -> None:
    with PinnedProducers(servers) as first, PinnedProducers(servers) as second:
        first.on_assigned([(source, 2)])  # type: ignore[list-item]
        assert first.transactional_id((source, 2)) == f"{source}-2"
        before = first[source, 2]
        before.begin_transaction()
        before.send(target, b"of a zombie")
        before.flush()
        second.on_assigned([(source, 2)])  # type: ignore[list-item]
        after = second[source, 2]
        with after.transaction() as txn:
            txn.send(target, b"of the owner")
        with pytest.raises(ClientError) as refused:
            before.commit_transaction()
        assert isinstance(refused.value, ProducerFenced) or "epoch" in str(refused.value).lower()
        assert values(servers, target) == Counter([b"of the owner"])


def test_pinned_producers_follow_their_partitions(servers: str, source: str, target: str, name: str) -> None:
    for partition in range(PARTITIONS):
        produce(servers, source, [b"%d-%d" % (partition, n) for n in range(20)], partition=partition)

    def stage() -> tuple[Consumer, PinnedProducers]:
        producers = PinnedProducers(servers)
        member = Consumer(servers, group_id=name, auto_offset_reset="earliest", max_poll_records=5)
        member.subscribe([source], on_assigned=producers.on_assigned, on_revoked=producers.on_revoked)
        return member, producers

    stages = [stage(), stage()]

    def turn() -> bool:
        for member, producers in stages:
            for record in member.poll(0.05):
                with producers[record.topic_partition].transaction() as txn:
                    txn.send(target, record.value)
                    txn.send_offsets(member, {record.topic_partition: record.offset + 1})
            assert set(producers.partitions) == set(member.assignment())
        return sum(values(servers, target).values()) == 20 * PARTITIONS

    try:
        wait_for("every record", turn, pause_s=0)
        wait_for("both have partitions", lambda: turn() and all(member.assignment() for member, _ in stages))
    finally:
        for member, producers in stages:
            member.close()
            producers.close()
    assert values(servers, target) == values(servers, source)
