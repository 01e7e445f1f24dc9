"""Consumer groups and their offsets, as calls on a cluster."""

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.client.admin.asking import patient
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.error_table import error_of
from fencepost.client.net.connection import API_KEYS
from fencepost.client.time_limits import Deadline
from fencepost.client.values import AnyOffsets, OffsetAndMetadata, normalized_offsets
from fencepost.errors import ErrorCode, WireError
from fencepost.types import TopicPartition
from fencepost.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    Member,
)
from fencepost.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from fencepost.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from fencepost.wire.messages.describe_groups import DescribedGroupMember, DescribeGroupsRequest, DescribeGroupsResponse
from fencepost.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)

LAST_BY_NAME = 9
"""Later versions of OffsetCommit and OffsetFetch name topics by their ids."""
FIRST_WITH_ALL_TOPICS = 2
NO_OFFSET = -1
_GROUP = CoordinatorType.GROUP


class GroupMember(NamedTuple):
    member_id: str
    client_id: str
    client_host: str
    group_instance_id: str | None = None
    partitions: tuple[TopicPartition, ...] = ()


class GroupDescription(NamedTuple):
    group_id: str
    state: str
    protocol: str
    """The assignor."""
    group_type: str
    members: list[GroupMember]


@patient
def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """Every broker's groups, in the order of their names."""
    cluster.refresh()
    groups: dict[str, ListedGroup] = {}
    for node in cluster.metadata.brokers.values():
        response = cluster.call(node, ListGroupsRequest(), ListGroupsResponse)
        if response.error_code:
            raise error_of(response.error_code, "ListGroups", what=str(node))
        groups.update({group.group_id: group for group in response.groups})
    return [groups[name] for name in sorted(groups)]


@patient
def describe_group(cluster: Cluster, group_id: str, *, timeout_s: float = 30.0) -> GroupDescription:
    """A group of either protocol."""
    deadline = Deadline(timeout_s)
    if _has_consumer_groups(cluster):
        asked = ConsumerGroupDescribeRequest(group_ids=[group_id])
        found = cluster.call_coordinator(_GROUP, group_id, asked, ConsumerGroupDescribeResponse, deadline=deadline)
        group = found.groups[0]
        if group.error_code == ErrorCode.NONE:
            members = [_consumer_member(member) for member in group.members]
            return GroupDescription(group_id, group.group_state, group.assignor_name, "consumer", members)
        if group.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            raise error_of(group.error_code, "ConsumerGroupDescribe", what=group_id, explanation=group.error_message)
    classic = cluster.call_coordinator(
        _GROUP, group_id, DescribeGroupsRequest(groups=[group_id]), DescribeGroupsResponse, deadline=deadline
    ).groups[0]
    if classic.error_code:
        what = f"group '{group_id}'"
        raise error_of(classic.error_code, "DescribeGroups", what=what, explanation=classic.error_message)
    members = [_classic_member(member) for member in classic.members]
    return GroupDescription(group_id, classic.group_state, classic.protocol_data, "classic", members)


@patient
def delete_groups(cluster: Cluster, group_ids: Iterable[str], *, timeout_s: float = 30.0) -> None:
    for group_id in group_ids:
        response = cluster.call_coordinator(
            _GROUP,
            group_id,
            DeleteGroupsRequest(groups_names=[group_id]),
            DeleteGroupsResponse,
            deadline=Deadline(timeout_s),
        )
        for row in response.results:
            _check(row.error_code, "DeleteGroups", f"group '{group_id}'")


@patient
def group_offsets(
    cluster: Cluster, group_id: str, *, require_stable: bool = False, timeout_s: float = 30.0
) -> dict[TopicPartition, OffsetAndMetadata]:
    """All that the group has committed. `require_stable` refuses while a transaction has offsets pending."""
    request = OffsetFetchRequest(
        group_id=group_id,
        topics=None,
        groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)],
        require_stable=require_stable,
    )
    response = cluster.call_coordinator(
        _GROUP,
        group_id,
        request,
        OffsetFetchResponse,
        deadline=Deadline(timeout_s),
        at_most=LAST_BY_NAME,
        at_least=FIRST_WITH_ALL_TOPICS,
    )
    error_code = response.groups[0].error_code if response.groups else response.error_code
    _check(error_code, "OffsetFetch", f"group '{group_id}'")
    offsets = {}
    for topic in response.groups[0].topics if response.groups else response.topics:
        for row in topic.partitions:
            where = TopicPartition(topic.name, row.partition_index)
            _check(row.error_code, "OffsetFetch", f"group '{group_id}', {where}")
            if row.committed_offset != NO_OFFSET:
                offsets[where] = OffsetAndMetadata(row.committed_offset, row.metadata or "", row.committed_leader_epoch)
    return offsets


@patient
def alter_group_offsets(cluster: Cluster, group_id: str, offsets: AnyOffsets, *, timeout_s: float = 30.0) -> None:
    """Set the offsets of a group without members."""
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (topic, partition), offset in normalized_offsets(offsets).items():
        row = OffsetCommitRequestPartition(partition, offset.offset, offset.leader_epoch, offset.metadata)
        topics.setdefault(topic, OffsetCommitRequestTopic(name=topic)).partitions.append(row)
    response = cluster.call_coordinator(
        _GROUP,
        group_id,
        OffsetCommitRequest(group_id=group_id, topics=list(topics.values())),
        OffsetCommitResponse,
        deadline=Deadline(timeout_s),
        at_most=LAST_BY_NAME,
    )
    for topic_row in response.topics:
        for partition_row in topic_row.partitions:
            where = TopicPartition(topic_row.name, partition_row.partition_index)
            _check(partition_row.error_code, "OffsetCommit", f"group '{group_id}', {where}")


def _consumer_member(member: Member) -> GroupMember:
    assigned = [
        TopicPartition(row.topic_name, at) for row in member.assignment.topic_partitions for at in row.partitions
    ]
    return GroupMember(member.member_id, member.client_id, member.client_host, member.instance_id, tuple(assigned))


def _classic_member(member: DescribedGroupMember) -> GroupMember:
    """Members of a group that is no consumers' tell each other what they like: nothing is read into it."""
    try:
        rows = ConsumerProtocolAssignment.from_bytes(member.member_assignment).assigned_partitions
    except WireError:
        rows = []
    assigned = tuple(TopicPartition(row.topic, at) for row in rows for at in row.partitions)
    return GroupMember(member.member_id, member.client_id, member.client_host, member.group_instance_id, assigned)


def _has_consumer_groups(cluster: Cluster) -> bool:
    return cluster.serves(API_KEYS["ConsumerGroupDescribeRequest"])


def _check(error_code: int, api_name: str, what: str) -> None:
    if error_code:
        raise error_of(error_code, api_name, what=what)
