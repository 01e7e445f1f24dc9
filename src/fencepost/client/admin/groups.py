"""Consumer groups and their offsets, as calls on a cluster."""

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.client.admin.asking import ClusterCalls, check_code, patient
from fencepost.client.cluster import CoordinatorType, ResponseT
from fencepost.client.net.connection import API_KEYS
from fencepost.client.offsets import LAST_VERSION_WITH_NAMES, commit_request, try_committed_offsets
from fencepost.client.time_limits import Deadline
from fencepost.client.values import AnyOffsets, ConsumerGroupMetadata, OffsetAndMetadata, by_topic, normalized_offsets
from fencepost.errors import ErrorCode, WireError
from fencepost.types import NO_TOPIC_ID, TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    Member,
)
from fencepost.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from fencepost.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from fencepost.wire.messages.describe_groups import DescribedGroupMember, DescribeGroupsRequest, DescribeGroupsResponse
from fencepost.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from fencepost.wire.messages.offset_commit import OffsetCommitResponse

CALL_TIMEOUT_S = 30.0


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


class GroupCalls(ClusterCalls):
    @patient
    def list_groups(self) -> list[ListedGroup]:
        """Every broker's groups, in the order of their names."""
        groups: dict[str, ListedGroup] = {}
        for node in self.cluster.refresh().brokers.values():
            response = self.cluster.call(node, ListGroupsRequest(), ListGroupsResponse)
            check_code(response.error_code, "ListGroups", str(node))
            groups.update({group.group_id: group for group in response.groups})
        return [groups[name] for name in sorted(groups)]

    @patient
    def describe_group(self, group_id: str) -> GroupDescription:
        """A group of either protocol."""
        if self.cluster.serves(API_KEYS["ConsumerGroupDescribeRequest"]):
            asked = ConsumerGroupDescribeRequest(group_ids=[group_id])
            group = self._ask(group_id, asked, ConsumerGroupDescribeResponse).groups[0]
            if group.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
                check_code(group.error_code, "ConsumerGroupDescribe", group_id, group.error_message)
                members = [_consumer_member(member) for member in group.members]
                return GroupDescription(group_id, group.group_state, group.assignor_name, "consumer", members)
        classic = self._ask(group_id, DescribeGroupsRequest(groups=[group_id]), DescribeGroupsResponse).groups[0]
        check_code(classic.error_code, "DescribeGroups", f"group '{group_id}'", classic.error_message)
        members = [_classic_member(member) for member in classic.members]
        return GroupDescription(group_id, classic.group_state, classic.protocol_data, "classic", members)

    @patient
    def delete_groups(self, group_ids: Iterable[str]) -> None:
        for group_id in group_ids:
            response = self._ask(group_id, DeleteGroupsRequest(groups_names=[group_id]), DeleteGroupsResponse)
            for row in response.results:
                check_code(row.error_code, "DeleteGroups", f"group '{group_id}'")

    @patient
    def group_offsets(self, group_id: str, *, require_stable: bool = False) -> dict[TopicPartition, OffsetAndMetadata]:
        """All that the group has committed. `require_stable` refuses while a transaction has offsets pending."""
        deadline = Deadline(CALL_TIMEOUT_S)
        found = try_committed_offsets(self.cluster, group_id, None, deadline, is_read_committed=require_stable)
        return {topic_partition: offset for topic_partition, offset in found.items() if offset is not None}

    @patient
    def alter_group_offsets(self, group_id: str, offsets: AnyOffsets) -> None:
        """Set the offsets of a group without members."""
        wanted = normalized_offsets(offsets)
        request = commit_request(wanted, ConsumerGroupMetadata(group_id), dict.fromkeys(by_topic(wanted), NO_TOPIC_ID))
        response = self._ask(group_id, request, OffsetCommitResponse, at_most=LAST_VERSION_WITH_NAMES)
        for topic in response.topics:
            for row in topic.partitions:
                topic_partition = TopicPartition(topic.name, row.partition_index)
                check_code(row.error_code, "OffsetCommit", f"group '{group_id}', {topic_partition}")

    def _ask(
        self, group_id: str, request: Message, response_class: type[ResponseT], *, at_most: int | None = None
    ) -> ResponseT:
        return self.cluster.call_coordinator(
            CoordinatorType.GROUP,
            group_id,
            request,
            response_class,
            deadline=Deadline(CALL_TIMEOUT_S),
            at_most=at_most,
        )


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
