"""InitProducerId: new ids, epochs, retries of KIP-360, and what a second instance does to the first."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from tests.behaviour.peer import Peer, until
from tests.behaviour.producing import committed_values
from tests.behaviour.transactional_producer import CLASSIC, EPOCH_PER_TRANSACTION, TransactionalProducer

BOTH_FLOWS = pytest.mark.parametrize("flow", [CLASSIC, EPOCH_PER_TRANSACTION])
FENCED = ErrorCode.PRODUCER_FENCED


def codes(answer: object) -> tuple[int, int, int]:
    return answer.error_code, answer.producer_id, answer.producer_epoch  # type: ignore[attr-defined]


def test_without_a_transactional_id_every_answer_is_a_new_producer_id(peer: Peer) -> None:
    answers = [peer.client.put_settled(InitProducerIdRequest(None, 0), version) for version in range(6)]
    assert {(each.error_code, each.producer_epoch) for each in answers} == {(0, 0)}
    assert len({each.producer_id for each in answers}) == 6


def test_each_call_bumps_the_epoch_of_the_same_producer_id(peer: Peer) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.producer_epoch == 0
    assert [codes(producer.init()) for _ in range(2)] == [(0, producer.producer_id, 1), (0, producer.producer_id, 2)]


@pytest.mark.parametrize(("timeout_ms", "error_code"), [(0, 50), (-1, 50), (900_000, 0), (900_001, 50)])
def test_the_timeout_has_bounds(peer: Peer, timeout_ms: int, error_code: int) -> None:
    answer = peer.client.put_settled(InitProducerIdRequest(peer.name("bounds"), timeout_ms), 4)
    assert answer.error_code == error_code
    if error_code:
        assert (answer.producer_id, answer.producer_epoch) == (-1, -1)


def test_the_empty_transactional_id_is_an_invalid_request(peer: Peer) -> None:
    assert codes(peer.put(InitProducerIdRequest("", 60_000), 4)) == (ErrorCode.INVALID_REQUEST, -1, -1)


@pytest.mark.parametrize(("producer_id", "producer_epoch"), [(5, -1), (-1, 5)])
def test_a_producer_id_and_its_epoch_come_together(peer: Peer, producer_id: int, producer_epoch: int) -> None:
    request = InitProducerIdRequest(peer.name("half"), 60_000, producer_id, producer_epoch)
    assert peer.put(request, 4).error_code == ErrorCode.INVALID_REQUEST


def test_with_its_epoch_a_producer_bumps_it_and_a_repeat_gets_the_same_answer(peer: Peer) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    said = {"producer_id": producer.producer_id, "producer_epoch": 0}
    assert codes(producer.init(**said)) == (0, producer.producer_id, 1)
    assert codes(producer.init(**said)) == (0, producer.producer_id, 1)


@pytest.mark.parametrize(("version", "error_code"), [(3, 47), (4, 90), (5, 90)])
def test_with_an_older_epoch_a_producer_is_fenced(peer: Peer, version: int, error_code: int) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    producer.init()
    producer.init()
    answer = producer.init(producer_id=producer.producer_id, producer_epoch=0, version=version)
    assert codes(answer) == (error_code, -1, -1)


def test_with_another_producer_id_a_producer_is_fenced(peer: Peer) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    answer = producer.init(producer_id=producer.producer_id + 500, producer_epoch=0)
    assert codes(answer) == (FENCED, -1, -1)


def test_an_identity_for_an_unknown_transactional_id_is_replaced(peer: Peer) -> None:
    request = InitProducerIdRequest(peer.name("unknown"), 60_000, 123_456_789, 7)
    answer = peer.client.put_settled(request, 4)
    assert (answer.error_code, answer.producer_epoch) == (0, 0)
    assert answer.producer_id != 123_456_789


@BOTH_FLOWS
def test_a_second_instance_aborts_what_the_first_left_open_and_fences_it(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    first = TransactionalProducer(peer, flow)
    first.write(topic, b"left open")
    asked = peer.put(InitProducerIdRequest(first.transactional_id, 60_000), 5)
    assert codes(asked) == (ErrorCode.CONCURRENT_TRANSACTIONS, -1, -1)
    second = TransactionalProducer(peer, flow, transactional_id=first.transactional_id)
    assert (second.producer_id, second.producer_epoch) == (first.producer_id, 2)
    assert first.produce(topic, b"zombie").error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert first.end(is_commit=True).error_code == FENCED
    if flow == CLASSIC:
        assert first.add_partitions(topic, 0) == {0: FENCED}
    second.write(topic, b"of the second")
    second.commit()
    assert committed_values(peer.client, topic) == [b"of the second"]


def test_a_stale_identity_is_fenced(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC)
    producer.take(producer.init())
    producer.take(producer.init())
    producer.write(topic, b"of the newer")
    answer = producer.init(producer_id=producer.producer_id, producer_epoch=0)
    assert codes(answer) == (FENCED, -1, -1)
    state = until(producer.describe, lambda found: not found.transaction_state.startswith("Prepare")).transaction_state
    assert state == peer.differs("stale-init-aborts", kafka="CompleteAbort", fencepost="Ongoing")
