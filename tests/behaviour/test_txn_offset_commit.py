"""Offsets in a transaction: pending until it ends, and refused from whom the group does not know (KIP-447)."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.behaviour.grouping import commit_offset, join_alone
from tests.behaviour.peer import Peer, until
from tests.behaviour.transactional_producer import CLASSIC, EPOCH_PER_TRANSACTION, TransactionalProducer

BOTH_FLOWS = pytest.mark.parametrize("flow", [CLASSIC, EPOCH_PER_TRANSACTION])
NO_OFFSET = -1


def offset_of(peer: Peer, group: str, topic: str, *, require_stable: bool = False) -> tuple[int, int]:
    """(error code, committed offset) of partition 0."""
    wanted = OffsetFetchRequestGroup(group, topics=[OffsetFetchRequestTopics(name=topic, partition_indexes=[0])])
    answer: Any = peer.put(OffsetFetchRequest(groups=[wanted], require_stable=require_stable), 8)
    partition = answer.groups[0].topics[0].partitions[0]
    return partition.error_code, partition.committed_offset


def begin_with_offset(producer: TransactionalProducer, group: str, topic: str, offset: int, **fields: Any) -> ErrorCode:
    if producer.flow == CLASSIC:
        assert producer.add_offsets(group) == 0
    return ErrorCode(producer.commit_offset(group, topic, offset, **fields))


@BOTH_FLOWS
def test_offsets_are_pending_until_the_commit(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    commit_offset(peer, group, topic, 3)
    producer = TransactionalProducer(peer, flow)
    assert begin_with_offset(producer, group, topic, 7) == 0
    assert offset_of(peer, group, topic) == (0, 3)
    assert offset_of(peer, group, topic, require_stable=True) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, NO_OFFSET)
    producer.commit()
    assert until(lambda: offset_of(peer, group, topic, require_stable=True), lambda found: found[0] == 0) == (0, 7)


@BOTH_FLOWS
def test_offsets_of_an_aborted_transaction_are_dropped(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    commit_offset(peer, group, topic, 3)
    producer = TransactionalProducer(peer, flow)
    assert begin_with_offset(producer, group, topic, 7) == 0
    producer.abort()
    assert until(lambda: offset_of(peer, group, topic, require_stable=True), lambda found: found[0] == 0) == (0, 3)


@BOTH_FLOWS
def test_a_plain_commit_after_the_transactional_one_stays(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    producer = TransactionalProducer(peer, flow)
    assert begin_with_offset(producer, group, topic, 7) == 0
    commit_offset(peer, group, topic, 5)
    producer.commit()
    assert until(lambda: offset_of(peer, group, topic, require_stable=True), lambda found: found[0] == 0) == (0, 5)


@pytest.mark.parametrize(("version", "error_code"), [(3, 48), (4, 120)])
def test_the_classic_flow_adds_the_group_first(peer: Peer, version: int, error_code: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    producer = TransactionalProducer(peer, CLASSIC)
    assert producer.commit_offset(group, topic, 7, version=version) == error_code
    assert offset_of(peer, group, topic, require_stable=True) == (0, NO_OFFSET)


@BOTH_FLOWS
def test_an_older_epoch_and_another_producer_id_are_refused(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    producer = TransactionalProducer(peer, flow)
    producer.take(producer.init())
    if flow == CLASSIC:
        producer.add_offsets(group)
    assert producer.commit_offset(group, topic, 7, producer_epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.commit_offset(group, topic, 7, producer_id=producer.producer_id + 500) == 49


@BOTH_FLOWS
def test_an_unknown_partition_and_too_much_metadata_are_refused_by_themselves(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    producer = TransactionalProducer(peer, flow)
    assert begin_with_offset(producer, group, topic, 7, partition=1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert begin_with_offset(producer, group, peer.name("absent"), 7) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert begin_with_offset(producer, group, topic, 7, metadata="x" * 4097) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert begin_with_offset(producer, group, topic, 7, metadata="x" * 4096) == 0


@BOTH_FLOWS
def test_the_empty_group_is_invalid(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow)
    assert producer.commit_offset("", topic, 7) == ErrorCode.INVALID_GROUP_ID


@BOTH_FLOWS
def test_a_generation_of_a_group_that_does_not_exist_is_illegal(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    producer = TransactionalProducer(peer, flow)
    error_code = begin_with_offset(producer, group, topic, 7, generation_id=4, member_id="someone")
    assert error_code == ErrorCode.ILLEGAL_GENERATION


@BOTH_FLOWS
def test_the_group_fences_whom_it_does_not_know(peer: Peer, flow: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    member = join_alone(peer, group, group_instance_id="instance")
    producer = TransactionalProducer(peer, flow)
    if flow == CLASSIC:
        assert producer.add_offsets(group) == 0
    known = {"generation_id": member.generation_id, "member_id": member.member_id, "group_instance_id": "instance"}
    answers = {
        "older generation": known | {"generation_id": member.generation_id - 1},
        "newer generation": known | {"generation_id": member.generation_id + 1},
        "unknown member": {"generation_id": member.generation_id, "member_id": "stranger"},
        "unknown instance": known | {"group_instance_id": "stranger"},
        "taken instance": known | {"member_id": "stranger"},
        "nothing said": {},
        "all right": known,
    }
    assert {name: producer.commit_offset(group, topic, 7, **said) for name, said in answers.items()} == {
        "older generation": ErrorCode.ILLEGAL_GENERATION,
        "newer generation": ErrorCode.ILLEGAL_GENERATION,
        "unknown member": ErrorCode.UNKNOWN_MEMBER_ID,
        "unknown instance": ErrorCode.UNKNOWN_MEMBER_ID,
        "taken instance": ErrorCode.FENCED_INSTANCE_ID,
        "nothing said": 0,
        "all right": 0,
    }
