"""The delayed EndTxn: one of transaction n, held up on an old connection, arrives while transaction n+1 is open.

In the classic flow both transactions have one epoch, and Kafka commits whatever is open. Here the request is not
answered and its connection closed, unless the connection has a part in the open transaction.
"""

from typing import Any

from tests.behaviour.peer import Client, Peer
from tests.behaviour.producing import committed_values
from tests.behaviour.transactional_producer import CLASSIC, END_TXN, EPOCH_PER_TRANSACTION, TransactionalProducer


def answer_or_none(client: Client, request: Any, version: int) -> Any:
    """The frame of the answer, or None if the broker closed the connection instead."""
    client.post(request, version)
    return client.receive_frame()


def test_a_late_commit_does_not_end_the_next_transaction_of_its_epoch(peer: Peer) -> None:
    """The client sends its commit on a connection that stalls, asks again on a new one, and goes on there."""
    topic = peer.create_topic()
    stalled = peer.connect()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.client = stalled
    producer.write(topic, b"of the first")
    held_back = producer.end_request(is_commit=True)
    producer.client = peer.connect()
    producer.commit()
    producer.write(topic, b"of the second")
    frame = answer_or_none(stalled, held_back, END_TXN[CLASSIC])
    ended_by_it = peer.differs("delayed-end-txn", kafka=True, fencepost=False)
    assert (frame is not None) == ended_by_it
    if ended_by_it:
        producer.wait_for_state("CompleteCommit")
        assert committed_values(peer.client, topic) == [b"of the first", b"of the second"]
    else:
        assert producer.describe().transaction_state == "Ongoing"
        producer.abort()
        assert committed_values(peer.client, topic) == [b"of the first"]


def test_a_late_abort_does_not_take_records_of_the_next_transaction(peer: Peer) -> None:
    topic = peer.create_topic()
    stalled = peer.connect()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.client = stalled
    producer.write(topic, b"of the first")
    held_back = producer.end_request(is_commit=False)
    producer.client = peer.connect()
    producer.abort()
    producer.write(topic, b"of the second")
    frame = answer_or_none(stalled, held_back, END_TXN[CLASSIC])
    if peer.differs("delayed-end-txn", kafka=True, fencepost=False):
        assert frame is not None
        producer.wait_for_state("CompleteAbort")
    else:
        assert frame is None
        producer.commit()
        assert committed_values(peer.client, topic) == [b"of the second"]


def test_with_an_epoch_for_each_transaction_a_late_commit_is_a_repeat_or_fenced(peer: Peer) -> None:
    topic = peer.create_topic()
    stalled = peer.connect()
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    producer.client = stalled
    producer.write(topic, b"of the first")
    held_back = producer.end_request(is_commit=True)
    producer.client = peer.connect()
    producer.commit()
    producer.write(topic, b"of the second")
    assert stalled.put(held_back, END_TXN[EPOCH_PER_TRANSACTION]).error_code == 90
    assert producer.describe().transaction_state == "Ongoing"


def test_a_client_that_reconnects_in_the_middle_commits(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    for value in (b"a", b"b", b"c"):
        producer.write(topic, value)
        producer.client = peer.connect()
        producer.commit()
    assert committed_values(peer.client, topic) == [b"a", b"b", b"c"]


def test_a_client_with_separate_connections_for_data_and_coordinator_commits(peer: Peer) -> None:
    """Whichever of the two is older."""
    topic = peer.create_topic()
    older, younger = peer.connect(), peer.connect()
    for coordinator, data in [(older, younger), (younger, older)]:
        producer = TransactionalProducer(peer, CLASSIC)
        for value in (b"a", b"b"):
            producer.client = coordinator
            assert producer.add_partitions(topic, 0) == {0: 0}
            producer.client = data
            assert producer.produce(topic, value).error_code == 0
            producer.client = coordinator
            producer.commit()
    assert committed_values(peer.client, topic) == [b"a", b"b"] * 2


def test_an_older_connection_that_has_a_part_in_the_transaction_may_end_it(peer: Peer) -> None:
    """The transaction is opened on the younger one; whatever the older one carries of it counts."""
    topic, group = peer.create_topic(partitions=2), peer.name("group")
    older, younger = peer.connect(), peer.connect()
    producer = TransactionalProducer(peer, CLASSIC)

    def carry_nothing_new() -> None:
        assert producer.produce(topic, b"on the older").error_code == 0

    def carry_a_partition() -> None:
        assert producer.add_partitions(topic, 1) == {1: 0}

    def carry_offsets() -> None:
        assert producer.add_offsets(group) == 0

    for carry in (carry_nothing_new, carry_a_partition, carry_offsets):
        producer.client = younger
        producer.write(topic, b"on the younger")
        producer.client = older
        carry()
        producer.commit()
    assert committed_values(peer.client, topic).count(b"on the younger") == 3


def test_a_driver_on_the_oldest_connection_ends_what_its_writers_share(peer: Peer) -> None:
    """Writers join on younger connections under the driver's identity; only the driver ends the transaction."""
    topic = peer.create_topic(partitions=3)
    driver = peer.connect()
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    for _ in range(2):
        for partition in range(3):
            producer.client = peer.connect()
            producer.write(topic, b"shared", partition=partition)
        producer.client = driver
        producer.commit()
    found = [committed_values(peer.client, topic, partition=partition) for partition in range(3)]
    assert found == [[b"shared", b"shared"]] * 3
