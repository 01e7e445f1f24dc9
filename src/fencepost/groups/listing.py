"""ListGroups, DescribeGroups and ConsumerGroupDescribe: reads, nothing is decided."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.groups.assignors import DEFAULT_ASSIGNOR
from fencepost.groups.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.consumer_records import by_topic
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.messages.consumer_group_describe import Assignment, Member, TopicPartitions
from fencepost.wire.messages.consumer_group_describe import DescribedGroup as DescribedConsumerGroup
from fencepost.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from fencepost.wire.messages.list_groups import ListedGroup

DESCRIBE_GROUPS_SINCE_NOT_FOUND = 6
MEMBER_OF_CONSUMER_PROTOCOL = 1


def list_groups(
    state: GroupsState, *, states_filter: Iterable[str] = (), types_filter: Iterable[str] = ()
) -> list[ListedGroup]:
    """Filters ignore case, as in Kafka; an empty one lets everything through."""
    states = {name.lower() for name in states_filter}
    types = {name.lower() for name in types_filter}
    listed = (_listed(group) for group in map(state.find, state.group_ids()) if group is not None)
    return [
        group
        for group in listed
        if (not states or group.group_state.lower() in states) and (not types or group.group_type in types)
    ]


def _listed(group: ClassicGroup | ConsumerGroup) -> ListedGroup:
    if isinstance(group, ConsumerGroup):
        return ListedGroup(group.group_id, CONSUMER_PROTOCOL_TYPE, group.state.value, "consumer")
    return ListedGroup(group.group_id, group.protocol_type or "", group.state.value, "classic")


def describe_group(state: GroupsState, group_id: str, *, api_version: int) -> DescribedGroup:
    """A KIP-848 group is as good as none: this API cannot describe it."""
    group = state.find(group_id)
    if not isinstance(group, ClassicGroup):
        described = DescribedGroup(group_id=group_id, group_state=ClassicGroupState.DEAD.value)
        if api_version >= DESCRIBE_GROUPS_SINCE_NOT_FOUND:
            described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            described.error_message = f"Group {group_id} {'not found' if group is None else 'is not a classic group'}."
        return described
    is_assigned = group.state is ClassicGroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if is_assigned else "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(group.protocol_name) if is_assigned else b"",
                member_assignment=member.assignment if is_assigned else b"",
            )
            for member in group.members.values()
        ],
    )


def describe_consumer_group(state: GroupsState, group_id: str) -> DescribedConsumerGroup:
    """Classic groups are DescribeGroups' to show: here they are not found."""
    if not group_id:
        return DescribedConsumerGroup(error_code=ErrorCode.INVALID_GROUP_ID)
    group = state.consumer.get(group_id)
    if group is None:
        message = f"Group {group_id} {'not found' if state.find(group_id) is None else 'is not a consumer group'}."
        return DescribedConsumerGroup(error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message, group_id=group_id)
    names = {topic.topic_id: name for name, topic in group.subscription_metadata.items()}
    return DescribedConsumerGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor() or DEFAULT_ASSIGNOR,
        members=[_described(group, member, names) for member in group.members.values()],
    )


def _described(group: ConsumerGroup, member: ConsumerMember, names: Mapping[UUID, str]) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(member.assigned, names),
        target_assignment=_assignment(group.target.get(member.member_id, ()), names),
        member_type=MEMBER_OF_CONSUMER_PROTOCOL,
    )


def _assignment(partitions: Iterable[TopicIdPartition], names: Mapping[UUID, str]) -> Assignment:
    """Topics that are gone have no name to show and are left out."""
    return Assignment(
        [TopicPartitions(topic_id, names[topic_id], ids) for topic_id, ids in by_topic(partitions) if topic_id in names]
    )
