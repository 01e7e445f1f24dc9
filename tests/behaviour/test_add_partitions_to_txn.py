"""AddPartitionsToTxn and AddOffsetsToTxn: what may join a transaction, and who may say so."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from tests.behaviour.peer import Peer
from tests.behaviour.transactional_producer import CLASSIC, TransactionalProducer

UNKNOWN, NOT_ATTEMPTED = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
FENCED, NO_MAPPING = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_what_was_added_is_described_and_adding_it_again_changes_nothing(peer: Peer) -> None:
    topic = peer.create_topic(partitions=3)
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.add_partitions(topic, 0, 2) == {0: 0, 2: 0}
    assert producer.add_partitions(topic, 2) == {2: 0}
    described = producer.describe()
    assert described.transaction_state == "Ongoing"
    assert [(each.topic, sorted(each.partitions)) for each in described.topics] == [(topic, [0, 2])]


def test_one_unknown_partition_keeps_all_of_them_out(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.add_partitions(topic, 0, 1) == {0: NOT_ATTEMPTED, 1: UNKNOWN}
    assert producer.add_partitions(peer.name("absent"), 0) == {0: UNKNOWN}
    assert producer.describe().transaction_state == "Empty"


def test_internal_topics_are_not_for_clients_to_add(peer: Peer) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.add_partitions("__consumer_offsets", 0) == {0: ErrorCode.TOPIC_AUTHORIZATION_FAILED}


@pytest.mark.parametrize(("version", "fenced"), [(0, 47), (1, 47), (2, FENCED), (3, FENCED)])
@pytest.mark.parametrize("step", [1, -1])
def test_another_epoch_is_fenced(peer: Peer, version: int, fenced: int, step: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.take(producer.init())
    epoch = producer.producer_epoch + step
    assert producer.add_partitions(topic, 0, version=version, producer_epoch=epoch) == {0: fenced}
    assert producer.add_offsets(peer.name("group"), version=version, producer_epoch=epoch) == fenced


def test_another_producer_id_and_an_unknown_transactional_id_have_no_mapping(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    producer = TransactionalProducer(peer, CLASSIC)
    other = producer.producer_id + 500
    assert producer.add_partitions(topic, 0, producer_id=other) == {0: NO_MAPPING}
    assert producer.add_offsets(group, producer_id=other) == NO_MAPPING
    producer.transactional_id = peer.name("never-seen")
    assert producer.add_partitions(topic, 0) == {0: NO_MAPPING}
    assert producer.add_offsets(group) == NO_MAPPING


def test_the_empty_transactional_id_is_an_invalid_request(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.transactional_id = ""
    assert producer.add_partitions(topic, 0) == {0: ErrorCode.INVALID_REQUEST}
    assert producer.add_offsets(peer.name("group")) == ErrorCode.INVALID_REQUEST


def test_offsets_open_a_transaction_on_the_groups_partition(peer: Peer) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.add_offsets(peer.name("group")) == 0
    described = producer.describe()
    assert described.transaction_state == "Ongoing"
    assert [(each.topic, len(each.partitions)) for each in described.topics] == [("__consumer_offsets", 1)]


def test_verification_says_of_each_partition_whether_it_is_in_the_transaction(peer: Peer) -> None:
    topic = peer.create_topic(partitions=2)
    producer = TransactionalProducer(peer, CLASSIC)
    producer.add_partitions(topic, 0)
    topics = [AddPartitionsToTxnTopic(topic, [0, 1])]
    identity = producer.producer_id, producer.producer_epoch
    question = AddPartitionsToTxnTransaction(producer.transactional_id, *identity, True, topics)
    stranger = AddPartitionsToTxnTransaction(peer.name("never-seen"), *identity, True, topics)
    answer = peer.put(AddPartitionsToTxnRequest(transactions=[question, stranger]), 5)
    found = {
        each.transactional_id: {
            result.partition_index: result.partition_error_code for result in each.topic_results[0].results_by_partition
        }
        for each in answer.results_by_transaction
    }
    assert answer.error_code == 0
    assert found[question.transactional_id] == {0: 0, 1: ErrorCode.TRANSACTION_ABORTABLE}
    assert found[stranger.transactional_id] == {0: NO_MAPPING, 1: NO_MAPPING}
