"""ListGroups, DescribeGroups and ConsumerGroupDescribe: reads, nothing is decided."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.groups.assignors import DEFAULT_ASSIGNOR
from fencepost.groups.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.consumer_records import by_topic
from fencepost.groups.replies import (
    AssignedTopic,
    Assignment,
    ConsumerGroupDescribedGroup,
    ConsumerGroupDescribedMember,
    DescribedGroup,
    DescribedMember,
    ListedGroup,
)
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState

DESCRIBE_GROUPS_SINCE_NOT_FOUND = 6


def list_groups(
    state: GroupsState, *, states_filter: Iterable[str] = (), types_filter: Iterable[str] = ()
) -> tuple[ListedGroup, ...]:
    """Filters ignore case, as in Kafka; an empty one lets everything through."""
    states = {name.lower() for name in states_filter}
    types = {name.lower() for name in types_filter}
    listed = (_listed(group) for group in map(state.find, state.group_ids()) if group is not None)
    return tuple(
        group
        for group in listed
        if (not states or group.group_state.lower() in states) and (not types or group.group_type.lower() in types)
    )


def _listed(group: ClassicGroup | ConsumerGroup) -> ListedGroup:
    if isinstance(group, ConsumerGroup):
        return ListedGroup(group.group_id, CONSUMER_PROTOCOL_TYPE, group.state.value, "Consumer")
    return ListedGroup(group.group_id, group.protocol_type or "", group.state.value, "Classic")


def describe_group(state: GroupsState, group_id: str, *, api_version: int) -> DescribedGroup:
    """A group of the other kind is as good as none: this API has no words for it."""
    group = state.find(group_id)
    if not isinstance(group, ClassicGroup):
        if api_version < DESCRIBE_GROUPS_SINCE_NOT_FOUND:
            return DescribedGroup(group_id=group_id, group_state=ClassicGroupState.DEAD.value)
        message = f"Group {group_id} {'not found' if group is None else 'is not a classic group'}."
        return DescribedGroup(error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message, group_id=group_id)
    is_assigned = group.state is ClassicGroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if is_assigned else "",
        members=tuple(
            DescribedMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(group.protocol_name) if is_assigned else b"",
                member_assignment=member.assignment if is_assigned else b"",
            )
            for member in group.members.values()
        ),
    )


def describe_consumer_group(state: GroupsState, group_id: str) -> ConsumerGroupDescribedGroup:
    group = state.consumer.get(group_id)
    if group is None:
        found = state.find(group_id)
        message = f"Group {group_id} {'not found' if found is None else 'is not a consumer group'}."
        return ConsumerGroupDescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message=message, group_id=group_id
        )
    names = {topic.topic_id: name for name, topic in group.subscription_metadata.items()}
    return ConsumerGroupDescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor() or DEFAULT_ASSIGNOR,
        members=tuple(_described(group, member, names) for member in group.members.values()),
    )


def _described(group: ConsumerGroup, member: ConsumerMember, names: Mapping[UUID, str]) -> ConsumerGroupDescribedMember:
    return ConsumerGroupDescribedMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=member.subscribed_topic_names,
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(member.assigned, names),
        target_assignment=_assignment(group.target.get(member.member_id, ()), names),
    )


def _assignment(partitions: Iterable[TopicIdPartition], names: Mapping[UUID, str]) -> Assignment:
    """Topics that are gone have no name to show and are left out."""
    return Assignment(
        tuple(
            AssignedTopic(topic_id, tuple(ids), names[topic_id])
            for topic_id, ids in by_topic(partitions)
            if topic_id in names
        )
    )
