"""EndTxn in every state, by the right producer, a late one and a stranger, in both flows."""

import pytest

from fencepost.errors import ErrorCode
from tests.behaviour.peer import Peer
from tests.behaviour.transactional_producer import CLASSIC, EPOCH_PER_TRANSACTION, TransactionalProducer

OK = ErrorCode.NONE
INVALID_STATE = ErrorCode.INVALID_TXN_STATE
FENCED = ErrorCode.PRODUCER_FENCED


def producer_in(peer: Peer, state: str, flow: int) -> TransactionalProducer:
    """A producer whose transactional id is in this state."""
    producer = TransactionalProducer(peer, flow)
    if state == "Empty":
        return producer
    producer.write(peer.create_topic())
    if state == "CompleteCommit":
        producer.commit()
    if state == "CompleteAbort":
        producer.abort()
    assert producer.describe().transaction_state == state
    return producer


@pytest.mark.parametrize(
    ("state", "is_commit", "error_code", "then"),
    [
        ("Empty", True, INVALID_STATE, "Empty"),
        ("Empty", False, INVALID_STATE, "Empty"),
        ("Ongoing", True, OK, "CompleteCommit"),
        ("Ongoing", False, OK, "CompleteAbort"),
        ("CompleteCommit", True, OK, "CompleteCommit"),
        ("CompleteCommit", False, INVALID_STATE, "CompleteCommit"),
        ("CompleteAbort", True, INVALID_STATE, "CompleteAbort"),
        ("CompleteAbort", False, OK, "CompleteAbort"),
    ],
)
def test_the_classic_flow_by_state(peer: Peer, state: str, is_commit: bool, error_code: int, then: str) -> None:
    producer = producer_in(peer, state, CLASSIC)
    answer = producer.end(is_commit=is_commit)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (error_code, -1, -1)
    assert producer.wait_for_state(then).producer_epoch == producer.producer_epoch


@pytest.mark.parametrize(
    ("state", "is_commit", "error_code", "bumps", "then"),
    [
        ("Empty", True, INVALID_STATE, 0, "Empty"),
        ("Empty", False, OK, 1, "CompleteAbort"),
        ("Ongoing", True, OK, 1, "CompleteCommit"),
        ("Ongoing", False, OK, 1, "CompleteAbort"),
        ("CompleteCommit", True, INVALID_STATE, 0, "CompleteCommit"),
        ("CompleteCommit", False, OK, 1, "CompleteAbort"),
        ("CompleteAbort", True, INVALID_STATE, 0, "CompleteAbort"),
        ("CompleteAbort", False, OK, 1, "CompleteAbort"),
    ],
)
def test_an_epoch_per_transaction_by_state(
    peer: Peer, state: str, is_commit: bool, error_code: int, bumps: int, then: str
) -> None:
    producer = producer_in(peer, state, EPOCH_PER_TRANSACTION)
    answer = producer.end(is_commit=is_commit)
    assert answer.error_code == error_code
    if error_code == OK:
        assert (answer.producer_id, answer.producer_epoch) == (producer.producer_id, producer.producer_epoch + 1)
    else:
        assert (answer.producer_id, answer.producer_epoch) == (-1, -1)
    assert producer.wait_for_state(then).producer_epoch == producer.producer_epoch + bumps


@pytest.mark.parametrize(
    ("state", "is_commit", "error_code"),
    [
        ("Empty", True, FENCED),
        ("Empty", False, FENCED),
        ("Ongoing", True, FENCED),
        ("Ongoing", False, FENCED),
        ("CompleteCommit", True, OK),
        ("CompleteCommit", False, INVALID_STATE),
        ("CompleteAbort", True, INVALID_STATE),
        ("CompleteAbort", False, OK),
    ],
)
def test_an_epoch_per_transaction_with_the_epoch_before(
    peer: Peer, state: str, is_commit: bool, error_code: int
) -> None:
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    producer.take(producer.init())
    if state != "Empty":
        producer.write(peer.create_topic())
    if state == "CompleteCommit":
        producer.commit()
    if state == "CompleteAbort":
        producer.abort()
    answer = producer.end(is_commit=is_commit, producer_epoch=producer.producer_epoch - 1)
    if (state, is_commit) == ("CompleteAbort", True):
        error_code = peer.differs("commit-of-aborted", kafka=INVALID_STATE, fencepost=FENCED)
    assert answer.error_code == error_code
    if error_code == OK:
        assert (answer.producer_id, answer.producer_epoch) == (producer.producer_id, producer.producer_epoch)
    assert producer.wait_for_state(state).producer_epoch == producer.producer_epoch


@pytest.mark.parametrize(("version", "error_code"), [(0, 47), (1, 47), (2, 90), (3, 90), (4, 90), (5, 90)])
@pytest.mark.parametrize("epoch_step", [1, -2])
def test_another_epoch_is_fenced(peer: Peer, version: int, error_code: int, epoch_step: int) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    producer.take(producer.init())
    producer.take(producer.init())
    producer.write(peer.create_topic())
    answer = producer.end(is_commit=True, version=version, producer_epoch=producer.producer_epoch + epoch_step)
    assert answer.error_code == error_code
    assert producer.describe().transaction_state == "Ongoing"


@pytest.mark.parametrize("version", [0, 4, 5])
def test_another_producer_id_and_an_unknown_transactional_id_have_no_mapping(peer: Peer, version: int) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(peer.create_topic())
    answer = producer.end(is_commit=True, version=version, producer_id=producer.producer_id + 500)
    assert answer.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    producer.transactional_id = peer.name("never-seen")
    assert producer.end(is_commit=True, version=version).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [4, 5])
def test_the_empty_transactional_id_is_an_invalid_request(peer: Peer, version: int) -> None:
    producer = TransactionalProducer(peer, CLASSIC)
    producer.transactional_id = ""
    assert producer.end(is_commit=True, version=version).error_code == ErrorCode.INVALID_REQUEST


def test_a_transaction_with_its_own_epoch_may_be_ended_in_the_classic_way(peer: Peer) -> None:
    """A Flink sink that resumes a transaction does this."""
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    producer.write(peer.create_topic())
    assert producer.end(is_commit=True, version=4).error_code == OK
    assert producer.wait_for_state("CompleteCommit").producer_epoch == producer.producer_epoch


def test_a_repeat_in_the_other_flow_is_not_taken_for_the_original(peer: Peer) -> None:
    """The transaction at epoch 0 is aborted, a classic one commits at epoch 1: a late commit of epoch 0 must fail."""
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, EPOCH_PER_TRANSACTION)
    producer.write(topic)
    producer.abort()
    producer.flow = CLASSIC
    producer.write(topic)
    producer.commit()
    late = producer.end(is_commit=True, version=5, producer_epoch=producer.producer_epoch - 1)
    assert late.error_code == peer.differs("repeat-in-other-flow", kafka=OK, fencepost=FENCED)
