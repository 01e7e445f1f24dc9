"""WriteTxnMarkers by an administrator: who may end a transaction on a partition, and with which epochs."""

from fencepost.errors import ErrorCode
from fencepost.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.behaviour.peer import Peer
from tests.behaviour.producing import committed_values, fetch
from tests.behaviour.transactional_producer import CLASSIC, EPOCH_PER_TRANSACTION, TransactionalProducer

HIGH_COORDINATOR_EPOCH = 1_000_000


def write_marker(producer: TransactionalProducer, topic: str, *, version: int = 1, **said: int) -> int:
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=said.get("producer_epoch", producer.producer_epoch),
        transaction_result=bool(said.get("is_commit", False)),
        topics=[WritableTxnMarkerTopic(topic, [said.get("partition", 0)])],
        coordinator_epoch=said.get("coordinator_epoch", HIGH_COORDINATOR_EPOCH),
        transaction_version=said.get("transaction_version", 0),
    )
    answer = producer.client.put(WriteTxnMarkersRequest(markers=[marker]), version)
    return int(answer.markers[0].topics[0].partitions[0].error_code)


def test_a_hanging_transaction_is_aborted_on_its_partition(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(topic, b"hangs")
    assert write_marker(producer, topic) == 0
    answer = fetch(peer.client, topic)
    assert answer.last_stable_offset == answer.high_watermark == 2
    assert committed_values(peer.client, topic) == []


def test_an_older_epoch_an_older_coordinator_and_an_unknown_partition_are_refused(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.take(producer.init())
    producer.write(topic, b"open")
    assert write_marker(producer, topic, producer_epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert write_marker(producer, topic, partition=5) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert write_marker(producer, topic) == 0
    fenced = write_marker(producer, topic, coordinator_epoch=HIGH_COORDINATOR_EPOCH - 1)
    assert fenced == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_where_every_transaction_has_an_epoch_a_late_marker_does_not_end_the_next(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    producer.write(topic, b"first")
    producer.commit()
    producer.write(topic, b"second")
    late = write_marker(producer, topic, version=2, transaction_version=2, is_commit=True)
    assert late == ErrorCode.INVALID_PRODUCER_EPOCH
    assert fetch(peer.client, topic).last_stable_offset == 2
