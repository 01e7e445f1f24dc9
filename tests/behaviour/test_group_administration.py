"""Describing, listing and deleting groups and their offsets; finding coordinators; what ApiVersions promises."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.api_versions import ApiVersionsRequest
from fencepost.wire.messages.delete_groups import DeleteGroupsRequest
from fencepost.wire.messages.describe_groups import DescribeGroupsRequest
from fencepost.wire.messages.find_coordinator import FindCoordinatorRequest
from fencepost.wire.messages.list_groups import ListGroupsRequest
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.behaviour.grouping import commit_offset, join_alone, leave
from tests.behaviour.peer import Peer
from tests.behaviour.producing import batch_of, produce

TRANSACTIONAL_APIS = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18, 22, 24, 25, 26, 28, 61, 65, 66, 68, 69}


def test_groups_are_described_by_state(peer: Peer) -> None:
    topic, group, simple = peer.create_topic(), peer.name("group"), peer.name("simple")
    commit_offset(peer, simple, topic, 1)
    member = join_alone(peer, group)
    wanted = [group, simple, peer.name("no-group")]
    answer = peer.put(DescribeGroupsRequest(groups=wanted), 5).groups
    found = sorted(answer, key=lambda each: wanted.index(each.group_id))
    assert [(each.error_code, each.group_state, each.protocol_type) for each in found] == [
        (0, "Stable", "consumer"),
        (0, "Empty", ""),
        (0, "Dead", ""),
    ]
    assert found[0].protocol_data == "range"
    assert [(each.member_id, each.member_assignment) for each in found[0].members] == [(member.member_id, b"all")]


def test_a_group_that_is_not_there_is_an_error_since_version_6(peer: Peer) -> None:
    [absent] = peer.put(DescribeGroupsRequest(groups=[peer.name("no-group")]), 6).groups
    assert (absent.error_code, absent.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")


def test_groups_are_listed_with_their_state_and_kind(peer: Peer) -> None:
    group = peer.name("group")
    join_alone(peer, group)
    everything = peer.put(ListGroupsRequest(), 5)
    [found] = [each for each in everything.groups if each.group_id == group]
    assert (found.protocol_type, found.group_state, found.group_type) == ("consumer", "Stable", "classic")
    empty = peer.put(ListGroupsRequest(states_filter=["Empty"]), 5)
    assert group not in {each.group_id for each in empty.groups}
    modern = peer.put(ListGroupsRequest(types_filter=["consumer"]), 5)
    assert group not in {each.group_id for each in modern.groups}


def test_only_an_empty_group_is_deleted(peer: Peer) -> None:
    group = peer.name("group")
    member = join_alone(peer, group)

    def delete(name: str) -> int:
        return int(peer.put(DeleteGroupsRequest(groups_names=[name]), 2).results[0].error_code)

    assert delete(group) == ErrorCode.NON_EMPTY_GROUP
    leave(peer.client, group, member.member_id)
    assert delete(group) == 0
    assert delete(group) == ErrorCode.GROUP_ID_NOT_FOUND


def test_offsets_are_deleted_by_partition(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    commit_offset(peer, group, topic, 4)

    def delete(name: str, partition: int) -> tuple[int, list[int]]:
        topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])]
        answer = peer.put(OffsetDeleteRequest(group_id=name, topics=topics), 0)
        return answer.error_code, [each.error_code for found in answer.topics for each in found.partitions]

    assert delete(group, 7) == (0, [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
    assert delete(group, 0) == (0, [0])
    gone: tuple[int, list[int]] = ErrorCode.GROUP_ID_NOT_FOUND, []
    assert delete(group, 0) == peer.differs("simple-group-gone", kafka=(0, [0]), fencepost=gone)
    assert delete(peer.name("no-group"), 0) == (ErrorCode.GROUP_ID_NOT_FOUND, [])


@pytest.mark.parametrize(("key_type", "error_code"), [(0, 0), (1, 0), (9, ErrorCode.INVALID_REQUEST)])
def test_coordinators_are_found_by_kind(peer: Peer, key_type: int, error_code: int) -> None:
    [found] = peer.put(FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a"]), 4).coordinators
    assert (found.key, found.error_code) == ("a", error_code)
    if error_code == 0:
        assert f"{found.host}:{found.port}" == peer.bootstrap_servers


def test_the_end_of_an_epoch(peer: Peer) -> None:
    topic = peer.create_topic()
    produce(peer.client, topic, batch_of(b"a", b"b"))

    def end_of(leader_epoch: int, partition: int = 0) -> tuple[int, int, int]:
        wanted = OffsetForLeaderPartition(partition=partition, leader_epoch=leader_epoch)
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[wanted])]
        )
        answer = peer.put(request, 4).topics[0].partitions[0]
        return answer.error_code, answer.leader_epoch, answer.end_offset

    assert end_of(0) == (0, 0, 2)
    assert end_of(5) == (0, -1, -1)
    assert end_of(0, partition=3)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_apis_of_clients_have_the_same_versions(peer: Peer) -> None:
    answer = peer.put(ApiVersionsRequest("test", "1"), 4)
    found = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert {key: found[key] for key in TRANSACTIONAL_APIS - {18}} == {
        0: (0, 13),
        1: (4, 18),
        2: (1, 11),
        3: (0, 13),
        8: (2, 10),
        9: (1, 10),
        10: (0, 6),
        11: (0, 9),
        12: (0, 4),
        13: (0, 5),
        14: (0, 5),
        22: (0, 5),
        24: (0, 5),
        25: (0, 4),
        26: (0, 5),
        28: (0, 5),
        61: (0, 0),
        65: (0, 0),
        66: (0, 2),
        68: (0, 1),
        69: (0, 1),
    }
    assert ("transaction.version", 2) in {(each.name, each.max_version_level) for each in answer.finalized_features}
