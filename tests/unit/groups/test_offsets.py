"""Offsets: committed, pending until their transaction ends, fenced by the group, deleted, expired."""

from uuid import UUID

import pytest

from fencepost.errors import ErrorCode
from fencepost.groups.offset_commit import fetch_offsets
from fencepost.types import TopicPartition
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol as Protocol
from fencepost.wire.messages.offset_fetch import OffsetFetchRequestGroup
from fencepost.wire.messages.offset_fetch import OffsetFetchResponsePartitions as Fetched
from tests.unit.groups.coordinator import DAY_MS, GROUP, SESSION_MS, Coordinator

PRODUCER = 4001
SUBSCRIBED_TO_PURCHASES = b"\x00\x00\x00\x00\x00\x01\x00\x09purchases\xff\xff\xff\xff"


def test_what_was_committed_is_fetched_with_its_metadata():
    coordinator = Coordinator()
    assert coordinator.commit(42, committed_metadata="by hand") is ErrorCode.NONE
    assert coordinator.fetch() == Fetched(0, 42, -1, "by hand")
    assert coordinator.fetch(partition=1) == Fetched(1, -1)
    assert coordinator.fetch(group_id="other") == Fetched(0, -1)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_offsets_survive_a_restart_committed_and_pending(checkpoint):
    coordinator = Coordinator()
    coordinator.commit(42)
    coordinator.txn_commit(PRODUCER, 50)
    coordinator.restart(checkpoint=checkpoint)
    assert coordinator.fetch().committed_offset == 42
    assert coordinator.fetch(require_stable=True).error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    coordinator.marker(PRODUCER, is_commit=True)
    assert coordinator.fetch(require_stable=True).committed_offset == 50


def test_metadata_that_is_too_large_is_refused_for_its_partition_alone():
    coordinator = Coordinator()
    assert coordinator.commit(1, committed_metadata="x" * 4096) is ErrorCode.NONE
    assert coordinator.commit(2, committed_metadata="x" * 4097) is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert coordinator.fetch().committed_offset == 1


def test_every_topic_of_a_group_can_be_asked_for_at_once():
    coordinator = Coordinator()
    coordinator.commit(1, topic="b", partition=1)
    coordinator.commit(2, topic="a", partition=3)
    coordinator.commit(3, topic="b", partition=0)
    reply = fetch_offsets(coordinator.state, OffsetFetchRequestGroup(GROUP, topics=None), require_stable=False)
    assert [(t.name, [(p.partition_index, p.committed_offset) for p in t.partitions]) for t in reply.topics] == [
        ("a", [(3, 2)]),
        ("b", [(0, 3), (1, 1)]),
    ]


def test_a_recreated_topic_does_not_inherit_offsets():
    coordinator = Coordinator()
    coordinator.commit(42, topic_id=UUID(int=1))
    assert coordinator.fetch(topic_id=UUID(int=2)).committed_offset == -1
    assert coordinator.fetch(topic_id=UUID(int=1)).committed_offset == 42
    assert coordinator.fetch().committed_offset == 42


# Scenario 37.
def test_pending_offsets_show_as_unstable_or_not_at_all_until_the_transaction_ends():
    for is_commit, expected in ((True, 50), (False, 42)):
        coordinator = Coordinator()
        coordinator.commit(42)
        assert coordinator.txn_commit(PRODUCER, 50) is ErrorCode.NONE
        assert coordinator.fetch(require_stable=True) == Fetched(0, -1, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
        assert coordinator.fetch().committed_offset == 42
        coordinator.marker(PRODUCER, is_commit=is_commit)
        assert coordinator.fetch(require_stable=True).committed_offset == expected


# Scenario 38.
def test_a_plain_commit_between_a_transactional_one_and_its_marker_stays():
    coordinator = Coordinator()
    coordinator.txn_commit(PRODUCER, 50)
    coordinator.commit(60)
    coordinator.marker(PRODUCER, is_commit=True)
    assert coordinator.fetch(require_stable=True).committed_offset == 60


def test_of_two_producers_the_later_record_wins_whichever_marker_comes_last():
    coordinator = Coordinator()
    coordinator.txn_commit(PRODUCER, 50)
    coordinator.txn_commit(PRODUCER + 1, 60)
    coordinator.marker(PRODUCER + 1, is_commit=True)
    assert coordinator.fetch(require_stable=True).error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    coordinator.marker(PRODUCER, is_commit=True)
    assert coordinator.fetch(require_stable=True).committed_offset == 60


# Scenario 39.
def test_a_transactional_commit_is_fenced_by_generation_member_and_instance():
    coordinator = Coordinator()
    member_id = coordinator.answered[coordinator.join(group_instance_id="one")].member_id
    coordinator.sync(member_id, 1, group_instance_id="one")
    who = {"member_id": member_id, "generation_id": 1}
    assert coordinator.txn_commit(PRODUCER, 1, **{**who, "generation_id": 0}) is ErrorCode.ILLEGAL_GENERATION
    assert coordinator.txn_commit(PRODUCER, 1, **{**who, "member_id": "other"}) is ErrorCode.UNKNOWN_MEMBER_ID
    fenced = {"member_id": "other", "generation_id": 1, "group_instance_id": "one"}
    assert coordinator.txn_commit(PRODUCER, 1, **fenced) is ErrorCode.FENCED_INSTANCE_ID
    assert coordinator.fetch(require_stable=True) == Fetched(0, -1)
    assert coordinator.txn_commit(PRODUCER, 1, **who) is ErrorCode.NONE


def test_a_producer_from_before_kip_447_commits_in_any_state():
    coordinator = Coordinator()
    first, _ = coordinator.stable_group(2)
    assert coordinator.txn_commit(PRODUCER, 1) is ErrorCode.NONE
    coordinator.join(first)
    assert coordinator.txn_commit(PRODUCER, 2) is ErrorCode.NONE


def test_a_transactional_commit_is_taken_during_a_rebalance_and_a_plain_one_is_not_while_assigning():
    coordinator = Coordinator()
    member_id = coordinator.answered[coordinator.join(group_instance_id="one")].member_id
    who = {"member_id": member_id}
    assert coordinator.commit(1, generation_id_or_member_epoch=1, **who) is ErrorCode.REBALANCE_IN_PROGRESS
    assert coordinator.txn_commit(PRODUCER, 1, generation_id=1, **who) is ErrorCode.NONE


def test_members_commit_for_their_generation_while_the_group_prepares_the_next():
    coordinator = Coordinator()
    first, second = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    coordinator.join(first)
    who = {"member_id": second, "generation_id_or_member_epoch": generation_id}
    assert coordinator.commit(1, **who) is ErrorCode.NONE


@pytest.mark.parametrize(("api_version", "error_code"), [(8, 22), (9, 69)])
def test_a_member_of_a_group_that_does_not_exist_cannot_commit(api_version, error_code):
    coordinator = Coordinator()
    code = coordinator.commit(1, member_id="m", generation_id_or_member_epoch=3, api_version=api_version)
    assert code == error_code


def test_a_transaction_for_a_group_that_does_not_exist_is_refused():
    assert Coordinator().txn_commit(PRODUCER, 1, generation_id=3) is ErrorCode.ILLEGAL_GENERATION


def test_an_anonymous_commit_into_a_group_with_members_is_refused():
    coordinator = Coordinator()
    coordinator.stable_group(1)
    assert coordinator.commit(1) is ErrorCode.UNKNOWN_MEMBER_ID


# Scenario 40: the marker is what recovery brings.
def test_after_a_crash_between_prepare_and_marker_offsets_are_unstable_and_then_committed():
    coordinator = Coordinator()
    coordinator.txn_commit(PRODUCER, 50)
    coordinator.restart()
    assert coordinator.fetch(require_stable=True).error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    coordinator.marker(PRODUCER, is_commit=True)
    assert coordinator.fetch(require_stable=True).committed_offset == 50


# Scenario 41.
def test_offsets_of_a_group_that_was_deleted_do_not_come_back_with_their_transaction():
    coordinator = Coordinator()
    coordinator.commit(42, partition=0)
    coordinator.txn_commit(PRODUCER, 50, partition=1)
    assert coordinator.delete_group() is ErrorCode.NONE
    coordinator.marker(PRODUCER, is_commit=True)
    assert coordinator.fetch(partition=1) == Fetched(1, -1)
    assert list(coordinator.state.group_ids()) == []
    coordinator.restart()
    assert list(coordinator.state.group_ids()) == []


def test_a_group_with_members_is_not_deleted():
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    coordinator.commit(1, member_id=member_id, generation_id_or_member_epoch=1)
    assert coordinator.delete_group() is ErrorCode.NON_EMPTY_GROUP
    assert coordinator.delete_group("other") is ErrorCode.GROUP_ID_NOT_FOUND
    coordinator.leave(member_id)
    assert coordinator.delete_group() is ErrorCode.NONE
    assert GROUP not in coordinator.state.classic


def test_offsets_are_deleted_one_by_one_unless_somebody_consumes_the_topic():
    coordinator = Coordinator()
    protocols = (Protocol("range", SUBSCRIBED_TO_PURCHASES),)
    member_id = coordinator.member_id(protocols=protocols)
    coordinator.join(member_id, protocols=protocols)
    coordinator.sync(member_id, 1)
    who = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    coordinator.commit(1, **who)
    coordinator.commit(2, topic="returns", **who)
    assert coordinator.delete_offset() is ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert coordinator.delete_offset(topic="returns") is ErrorCode.NONE
    assert coordinator.fetch().committed_offset == 1
    assert coordinator.fetch(topic="returns").committed_offset == -1


def test_deleting_offsets_of_no_group_or_a_foreign_kind_of_group_is_refused():
    coordinator = Coordinator()
    assert coordinator.delete_offset() is ErrorCode.GROUP_ID_NOT_FOUND
    assert coordinator.delete_offset(group_id="") is ErrorCode.INVALID_GROUP_ID
    coordinator.join(protocol_type="connect", api_version=3)
    assert coordinator.delete_offset() is ErrorCode.NON_EMPTY_GROUP


def test_a_deleted_topic_takes_its_offsets_along_pending_ones_too():
    coordinator = Coordinator()
    coordinator.commit(1, partition=0)
    coordinator.txn_commit(PRODUCER, 2, partition=1)
    coordinator.commit(3, topic="returns")
    coordinator.delete_partitions(TopicPartition("purchases", 0), TopicPartition("purchases", 1))
    coordinator.marker(PRODUCER, is_commit=True)
    assert [coordinator.fetch(partition=index).committed_offset for index in (0, 1)] == [-1, -1]
    assert coordinator.fetch(topic="returns").committed_offset == 3


def test_offsets_of_a_simple_group_expire_a_week_after_their_commit():
    coordinator = Coordinator()
    coordinator.commit(1)
    coordinator.advance(7 * DAY_MS - 1)
    assert coordinator.expire() == 0
    coordinator.advance(1)
    assert coordinator.expire() == 1
    assert list(coordinator.state.group_ids()) == []


def test_offsets_of_a_group_expire_a_week_after_its_last_member_left_and_the_group_with_them():
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    coordinator.commit(1, member_id=member_id, generation_id_or_member_epoch=1)
    for _ in range(20 * DAY_MS // (SESSION_MS * 100)):
        coordinator.now = coordinator.now._replace(wall_ms=coordinator.now.wall_ms + SESSION_MS * 100)
        coordinator.heartbeat(member_id, 1)
    assert coordinator.expire() == 0
    coordinator.leave(member_id)
    coordinator.advance(7 * DAY_MS - 1)
    assert coordinator.expire() == 0
    coordinator.advance(1)
    assert coordinator.expire() == 2
    assert list(coordinator.state.group_ids()) == []


def test_a_group_with_members_loses_offsets_only_of_topics_that_it_no_longer_consumes():
    coordinator = Coordinator()
    protocols = (Protocol("range", SUBSCRIBED_TO_PURCHASES),)
    member_id = coordinator.member_id(protocols=protocols)
    coordinator.join(member_id, protocols=protocols)
    coordinator.sync(member_id, 1)
    who = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    coordinator.commit(1, **who)
    coordinator.commit(2, topic="returns", **who)
    coordinator.now = coordinator.now._replace(wall_ms=coordinator.now.wall_ms + 8 * DAY_MS)
    assert coordinator.expire() == 1
    assert coordinator.fetch().committed_offset == 1


def test_an_offset_with_its_own_retention_time_expires_by_it():
    coordinator = Coordinator()
    coordinator.commit(1, retention_time_ms=5000, api_version=4)
    coordinator.advance(4999)
    assert coordinator.expire() == 0
    coordinator.advance(1)
    assert coordinator.expire() == 1


def test_a_pending_offset_keeps_its_partition_and_its_group_from_expiring():
    coordinator = Coordinator()
    coordinator.commit(1)
    coordinator.txn_commit(PRODUCER, 2)
    coordinator.advance(30 * DAY_MS)
    assert coordinator.expire() == 0
    coordinator.marker(PRODUCER, is_commit=False)
    assert coordinator.expire() == 1
