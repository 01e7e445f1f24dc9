"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit: what members and strangers are told."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.behaviour.grouping import (
    JOIN,
    SUBSCRIPTION,
    heartbeat,
    join,
    join_alone,
    join_request,
    leave,
    offset_commit,
    sync,
)
from tests.behaviour.peer import Peer, until

UNKNOWN_MEMBER, ILLEGAL_GENERATION = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION


def test_a_new_member_is_given_an_id_and_asked_to_come_back(peer: Peer) -> None:
    group = peer.name("group")
    answer = peer.client.put_settled(join_request(group), JOIN)
    assert (answer.error_code, answer.generation_id) == (ErrorCode.MEMBER_ID_REQUIRED, -1)
    again = peer.put(join_request(group, member_id=answer.member_id), JOIN)
    assert (again.error_code, again.generation_id, again.leader) == (0, 1, answer.member_id)
    assert (again.protocol_type, again.protocol_name) == ("consumer", "range")
    assert [(each.member_id, each.metadata) for each in again.members] == [(answer.member_id, SUBSCRIPTION)]


def test_before_version_4_a_new_member_is_in_at_once(peer: Peer) -> None:
    answer = peer.client.put_settled(join_request(peer.name("group")), 3)
    assert (answer.error_code, answer.generation_id) == (0, 1)


@pytest.mark.parametrize(
    ("said", "error_code"),
    [
        ({"session_timeout_ms": 10}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 10_000_000}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"member_id": "stranger"}, UNKNOWN_MEMBER),
    ],
    ids=["short session", "long session", "no protocols", "no protocol type", "stranger"],
)
def test_a_join_that_makes_no_sense_is_refused(peer: Peer, said: dict[str, Any], error_code: int) -> None:
    assert join(peer.client, peer.name("group"), **said).error_code == error_code


def test_the_empty_group_id_is_invalid(peer: Peer) -> None:
    assert join(peer.client, "").error_code == ErrorCode.INVALID_GROUP_ID
    assert heartbeat(peer.client, "", "m", 1) == ErrorCode.INVALID_GROUP_ID


def test_a_member_shares_a_protocol_and_the_type_with_the_others(peer: Peer) -> None:
    group = peer.name("group")
    join_alone(peer, group)
    other = [JoinGroupRequestProtocol("round robin", SUBSCRIPTION)]
    assert join(peer.client, group, protocols=other).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert join(peer.client, group, protocol_type="connect").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_heartbeats_of_members_and_strangers(peer: Peer) -> None:
    group = peer.name("group")
    member = join_alone(peer, group)
    assert heartbeat(peer.client, group, member.member_id, member.generation_id) == 0
    assert heartbeat(peer.client, group, member.member_id, member.generation_id + 1) == ILLEGAL_GENERATION
    assert heartbeat(peer.client, group, "stranger", member.generation_id) == UNKNOWN_MEMBER
    assert heartbeat(peer.client, peer.name("no-group"), "stranger", 1) == UNKNOWN_MEMBER


def test_syncs_of_members_and_strangers(peer: Peer) -> None:
    group = peer.name("group")
    member = join_alone(peer, group)
    assert sync(peer.client, group, member).assignment == b"all"
    assert sync(peer.client, group, member, generation_id=member.generation_id + 1).error_code == ILLEGAL_GENERATION
    assert sync(peer.client, group, member, member_id="stranger").error_code == UNKNOWN_MEMBER
    assert sync(peer.client, peer.name("no-group"), member).error_code == UNKNOWN_MEMBER


def test_a_second_member_makes_the_first_rebalance(peer: Peer) -> None:
    group = peer.name("group")
    first = join_alone(peer, group)
    other = peer.connect()
    told = other.put_settled(join_request(group), JOIN)
    request = join_request(group, member_id=told.member_id)
    other.post(request, JOIN)
    rebalancing = until(
        lambda: heartbeat(peer.client, group, first.member_id, first.generation_id), lambda code: code != 0
    )
    assert rebalancing == ErrorCode.REBALANCE_IN_PROGRESS
    assert sync(peer.client, group, first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    again = join(peer.client, group, member_id=first.member_id)
    second = other.collect(request, JOIN)
    assert (again.error_code, second.error_code) == (0, 0)
    assert again.generation_id == second.generation_id == 2
    assert again.leader == second.leader == first.member_id
    assert {each.member_id for each in again.members} == {first.member_id, second.member_id}
    assert second.members == []


def test_a_static_member_comes_back_as_itself_and_fences_its_older_self(peer: Peer) -> None:
    group = peer.name("group")
    old = join_alone(peer, group, group_instance_id="instance")
    new = join(peer.client, group, group_instance_id="instance")
    assert new.error_code == 0
    assert new.member_id != old.member_id
    code = heartbeat(peer.client, group, old.member_id, old.generation_id, group_instance_id="instance")
    assert code == ErrorCode.FENCED_INSTANCE_ID
    unknown = heartbeat(peer.client, group, new.member_id, new.generation_id, group_instance_id="other")
    assert unknown == UNKNOWN_MEMBER


def test_leaving_is_answered_by_member(peer: Peer) -> None:
    group = peer.name("group")
    member = join_alone(peer, group)
    stranger = leave(peer.client, group, "stranger")
    assert (stranger.error_code, [each.error_code for each in stranger.members]) == (0, [UNKNOWN_MEMBER])
    gone = leave(peer.client, group, member.member_id)
    assert (gone.error_code, [each.error_code for each in gone.members]) == (0, [0])
    assert heartbeat(peer.client, group, member.member_id, member.generation_id) == UNKNOWN_MEMBER


def test_a_silent_member_is_out_when_its_session_ends(peer: Peer) -> None:
    group = peer.name("group")
    member = join_alone(peer, group, session_timeout_ms=1_500)
    # A wrong generation is refused without being a sign of life.
    until(
        lambda: heartbeat(peer.client, group, member.member_id, member.generation_id + 1),
        lambda code: code == UNKNOWN_MEMBER,
    )


def test_commits_of_members_strangers_and_simple_consumers(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    assert offset_commit(peer.client, group, topic, 1) == 0
    member = join_alone(peer, group)
    said = {"member_id": member.member_id, "generation_id_or_member_epoch": member.generation_id}
    assert offset_commit(peer.client, group, topic, 2, **said) == 0
    later = said | {"generation_id_or_member_epoch": member.generation_id + 1}
    assert offset_commit(peer.client, group, topic, 3, **later) == ILLEGAL_GENERATION
    stranger = said | {"member_id": "stranger"}
    assert offset_commit(peer.client, group, topic, 3, **stranger) == UNKNOWN_MEMBER
    assert offset_commit(peer.client, group, topic, 3) == UNKNOWN_MEMBER
    nobody = offset_commit(peer.client, peer.name("no-group"), topic, 3, **said)
    assert nobody == ILLEGAL_GENERATION


def test_a_commit_for_an_unknown_partition_or_with_long_metadata_is_refused(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    assert offset_commit(peer.client, group, topic, 1, partition=1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert offset_commit(peer.client, group, peer.name("absent"), 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert offset_commit(peer.client, group, topic, 1, metadata="x" * 4097) == ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_a_plain_commit_may_use_the_group_without_a_name(peer: Peer) -> None:
    assert offset_commit(peer.client, "", peer.create_topic(), 1) == 0


@pytest.mark.parametrize("version", [1, 2, 5, 7])
def test_offsets_that_were_never_committed_are_minus_one(peer: Peer, version: int) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    request = OffsetFetchRequest(group_id=group, topics=[OffsetFetchRequestTopic(topic, [0, 9])])
    answer = peer.put(request, version)
    found = [(each.error_code, each.committed_offset, each.metadata) for each in answer.topics[0].partitions]
    assert (answer.error_code, found) == (0, [(0, -1, ""), (0, -1, "")])


def test_offsets_come_back_with_their_metadata(peer: Peer) -> None:
    topic, group = peer.create_topic(partitions=2), peer.name("group")
    assert offset_commit(peer.client, group, topic, 41, partition=1, metadata="note") == 0
    everything = peer.put(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)]), 8).groups[0]
    [partition] = everything.topics[0].partitions
    assert (everything.error_code, everything.topics[0].name) == (0, topic)
    assert (partition.partition_index, partition.committed_offset, partition.metadata) == (1, 41, "note")


def test_a_fetch_of_offsets_with_a_stale_member_is_refused_only_where_the_group_has_epochs(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    offset_commit(peer.client, group, topic, 4)
    topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=[0])]
    wanted = OffsetFetchRequestGroup(group, member_id="stranger", member_epoch=3, topics=topics)
    answer = peer.put(OffsetFetchRequest(groups=[wanted]), 9).groups[0]
    assert (answer.error_code, answer.topics[0].partitions[0].committed_offset) == (0, 4)
