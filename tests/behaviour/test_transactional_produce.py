"""Produce inside transactions: who may write where, and how the coordinator's refusals look to a producer."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.behaviour.peer import Peer
from tests.behaviour.producing import (
    READ_COMMITTED,
    batch_of,
    committed_values,
    fetch,
    produce,
)
from tests.behaviour.transactional_producer import CLASSIC, EPOCH_PER_TRANSACTION, TransactionalProducer

BOTH_FLOWS = pytest.mark.parametrize("flow", [CLASSIC, EPOCH_PER_TRANSACTION])


@BOTH_FLOWS
def test_committed_records_appear_with_the_marker_and_aborted_ones_never(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow)
    producer.write(topic, b"aborted")
    producer.abort()
    producer.write(topic, b"committed")
    before = fetch(peer.client, topic, isolation_level=READ_COMMITTED)
    producer.commit()
    after = fetch(peer.client, topic, isolation_level=READ_COMMITTED)
    assert (before.last_stable_offset, before.high_watermark) == (2, 3)
    assert (after.last_stable_offset, after.high_watermark) == (4, 4)
    assert [(each.producer_id, each.first_offset) for each in after.aborted_transactions] == [(producer.producer_id, 0)]
    assert committed_values(peer.client, topic) == [b"committed"]


@pytest.mark.parametrize(("version", "error_code"), [(10, 48), (11, 120)])
def test_the_classic_flow_may_not_write_to_a_partition_that_was_not_added(
    peer: Peer, version: int, error_code: int
) -> None:
    topic = peer.create_topic(partitions=2)
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.produce(topic, partition=1, version=version).error_code == error_code
    producer.add_partitions(topic, 0)
    assert producer.produce(topic, partition=1, version=version).error_code == error_code
    assert producer.produce(topic, partition=0, version=version).error_code == 0
    assert fetch(peer.client, topic, partition=1).high_watermark == 0


@BOTH_FLOWS
def test_a_transactional_batch_without_a_transactional_id_is_refused(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow)
    answer = producer.produce(topic, transactional_id=None)
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize("version", [10, 11, 12])
def test_an_unknown_transactional_id_has_no_producer_id(peer: Peer, version: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    answer = producer.produce(topic, transactional_id=peer.name("never-seen"), version=version)
    assert answer.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [10, 11, 12])
def test_another_producer_id_than_that_of_the_transactional_id_is_refused(peer: Peer, version: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    answer = producer.produce(topic, producer_id=producer.producer_id + 500, version=version)
    assert answer.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [10, 11, 12])
@pytest.mark.parametrize("step", [-1, 1])
def test_another_epoch_than_that_of_the_transactional_id_is_refused(peer: Peer, version: int, step: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.take(producer.init())
    answer = producer.produce(topic, producer_epoch=producer.producer_epoch + step, version=version)
    assert answer.error_code == ErrorCode.INVALID_PRODUCER_EPOCH


@BOTH_FLOWS
def test_a_plain_batch_of_a_producer_with_an_open_transaction_is_refused(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow)
    producer.write(topic)
    answer = producer.produce(topic, is_transactional=False, transactional_id=None)
    assert answer.error_code == ErrorCode.INVALID_TXN_STATE


def test_the_first_batch_of_a_transaction_on_a_partition_has_sequence_zero_where_each_has_an_epoch(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    assert producer.produce(topic, base_sequence=4).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.produce(topic).error_code == 0


def test_in_the_classic_flow_a_producer_without_state_may_start_anywhere(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.add_partitions(topic, 0)
    assert producer.produce(topic, base_sequence=4).error_code == 0


def test_in_the_classic_flow_sequences_go_on_across_transactions(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(topic, b"a", b"b")
    producer.commit()
    producer.add_partitions(topic, 0)
    assert producer.produce(topic, b"c", base_sequence=2).error_code == 0
    assert producer.produce(topic, b"d", base_sequence=0).error_code == 45


def test_a_wrong_sequence_does_not_stand_in_the_way_of_the_right_one(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(topic, b"a", b"b")
    producer.commit()
    producer.add_partitions(topic, 0)
    assert producer.produce(topic, b"c", base_sequence=0).error_code == 45
    right = producer.produce(topic, b"c", base_sequence=2).error_code
    assert right == peer.differs("sequence-after-refusal", kafka=45, fencepost=0)


@BOTH_FLOWS
def test_a_batch_that_comes_after_its_transaction_has_ended_opens_nothing(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow)
    epoch = producer.producer_epoch
    producer.write(topic, b"a")
    producer.commit()
    late = producer.produce(topic, b"late", producer_epoch=epoch, base_sequence=1)
    assert late.error_code == {CLASSIC: 120, EPOCH_PER_TRANSACTION: 47}[flow]
    answer = fetch(peer.client, topic)
    assert answer.last_stable_offset == answer.high_watermark == 2


@BOTH_FLOWS
def test_a_batch_resent_within_its_transaction_is_stored_once(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow)
    first = producer.write(topic, b"a")
    again = producer.produce(topic, b"a", base_sequence=0)
    assert (again.error_code, again.base_offset) == (0, first.base_offset)
    producer.commit()
    assert committed_values(peer.client, topic) == [b"a"]


def test_a_batch_of_the_classic_flow_resent_after_the_marker_is_a_duplicate_or_refused_but_never_stored(
    peer: Peer,
) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(topic, b"a")
    producer.commit()
    again = producer.produce(topic, b"a", base_sequence=0)
    assert again.error_code == ErrorCode.TRANSACTION_ABORTABLE
    assert fetch(peer.client, topic).high_watermark == 2


@BOTH_FLOWS
def test_two_partitions_of_one_request_with_two_producers_are_refused(peer: Peer, flow: int) -> None:
    topic = peer.create_topic(partitions=2)
    one, other = TransactionalProducer(peer, flow), TransactionalProducer(peer, flow)
    data = [
        PartitionProduceData(
            index,
            batch_of(
                b"v",
                producer_id=each.producer_id,
                producer_epoch=each.producer_epoch,
                base_sequence=0,
                is_transactional=True,
            ),
        )
        for index, each in enumerate((one, other))
    ]
    request = ProduceRequest(one.transactional_id, -1, 10_000, [TopicProduceData(name=topic, partition_data=data)])
    answers = peer.put(request, 11 if flow == CLASSIC else 12).responses[0].partition_responses
    assert {each.error_code for each in answers} == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}


def test_a_plain_batch_of_a_stranger_is_read_only_after_the_transaction_before_it_ends(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(topic, b"held")
    produce(peer.client, topic, batch_of(b"plain"))
    assert committed_values(peer.client, topic) == []
    producer.commit()
    assert committed_values(peer.client, topic) == [b"held", b"plain"]
