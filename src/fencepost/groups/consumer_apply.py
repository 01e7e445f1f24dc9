"""KIP-848's records folded into consumer groups, one small function per kind of record."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from fencepost.groups import consumer_group as group_values
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.states import MemberState
from fencepost.wire.message import record_version
from fencepost.wire.messages import consumer_group_record as schema

T = TypeVar("T")


def apply_consumer_record(groups: dict[str, ConsumerGroup], key: bytes, value: bytes | None) -> str:
    """Fold one record in; returns the group's id."""
    group_id, member_id, fold = _FOLDS[record_version(key)](key)
    group = groups.get(group_id)
    if group is None:
        if value is None:
            return group_id
        group = ConsumerGroup(group_id=group_id)
    folded = fold(group, member_id, value)
    if folded is None:
        groups.pop(group_id, None)
    else:
        groups[group_id] = folded
    return group_id


Fold = Callable[[ConsumerGroup, str, bytes | None], ConsumerGroup | None]


def _fold_group(group: ConsumerGroup, _: str, value: bytes | None) -> ConsumerGroup | None:
    if value is None:
        return None
    return replace(group, group_epoch=schema.ConsumerGroupMetadataValue.from_bytes(value).epoch)


def _fold_partition_metadata(group: ConsumerGroup, _: str, value: bytes | None) -> ConsumerGroup:
    topics = [] if value is None else schema.ConsumerGroupPartitionMetadataValue.from_bytes(value).topics
    metadata = {topic.topic_name: group_values.TopicMetadata(topic.topic_id, topic.num_partitions) for topic in topics}
    return replace(group, subscription_metadata=metadata)


def _fold_member(group: ConsumerGroup, member_id: str, value: bytes | None) -> ConsumerGroup:
    if value is None:
        return replace(group, members=_without(group.members, member_id))
    stored = schema.ConsumerGroupMemberMetadataValue.from_bytes(value)
    member = replace(
        _member(group, member_id),
        instance_id=stored.instance_id,
        rack_id=stored.rack_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        subscribed_topic_names=tuple(stored.subscribed_topic_names),
        subscribed_topic_regex=stored.subscribed_topic_regex,
        rebalance_timeout_ms=stored.rebalance_timeout_ms,
        server_assignor=stored.server_assignor,
    )
    return replace(group, members={**group.members, member_id: member})


def _fold_target(group: ConsumerGroup, _: str, value: bytes | None) -> ConsumerGroup:
    epoch = 0 if value is None else schema.ConsumerGroupTargetAssignmentMetadataValue.from_bytes(value).assignment_epoch
    return replace(group, assignment_epoch=epoch)


def _fold_target_member(group: ConsumerGroup, member_id: str, value: bytes | None) -> ConsumerGroup:
    if value is None:
        return replace(group, target=_without(group.target, member_id))
    stored = schema.ConsumerGroupTargetAssignmentMemberValue.from_bytes(value)
    partitions = frozenset(
        TopicIdPartition(topic.topic_id, id_) for topic in stored.topic_partitions for id_ in topic.partitions
    )
    return replace(group, target={**group.target, member_id: partitions})


def _fold_current(group: ConsumerGroup, member_id: str, value: bytes | None) -> ConsumerGroup:
    if value is None:
        if member_id not in group.members:
            return group
        stored = schema.ConsumerGroupCurrentMemberAssignmentValue(group_values.LEAVE_EPOCH, group_values.LEAVE_EPOCH)
    else:
        stored = schema.ConsumerGroupCurrentMemberAssignmentValue.from_bytes(value)
    member = replace(
        _member(group, member_id),
        member_epoch=stored.member_epoch,
        previous_member_epoch=stored.previous_member_epoch,
        state=MemberState(stored.state),
        assigned=_with_epochs(stored.assigned_partitions, default_epoch=stored.member_epoch),
        pending_revocation=_with_epochs(stored.partitions_pending_revocation, default_epoch=stored.member_epoch),
    )
    return replace(group, members={**group.members, member_id: member})


def _with_epochs(topics: list[schema.TopicPartitions], *, default_epoch: int) -> dict[TopicIdPartition, int]:
    """Records from before KIP-1251 have no assignment epochs: the member's own stands in, 0 at least."""
    return {
        TopicIdPartition(topic.topic_id, partition): epoch
        for topic in topics
        for partition, epoch in zip(
            topic.partitions, topic.assignment_epochs or [max(default_epoch, 0)] * len(topic.partitions), strict=True
        )
    }


def _member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    return group.members.get(member_id) or ConsumerMember(member_id=member_id)


def _without(mapping: Mapping[str, T], member_id: str) -> dict[str, T]:
    return {key: value for key, value in mapping.items() if key != member_id}


GroupKey = type[
    schema.ConsumerGroupMetadataKey
    | schema.ConsumerGroupPartitionMetadataKey
    | schema.ConsumerGroupTargetAssignmentMetadataKey
]
MemberKey = type[
    schema.ConsumerGroupMemberMetadataKey
    | schema.ConsumerGroupTargetAssignmentMemberKey
    | schema.ConsumerGroupCurrentMemberAssignmentKey
]


def _of_group(key_class: GroupKey, fold: Fold) -> Callable[[bytes], tuple[str, str, Fold]]:
    return lambda key: (key_class.from_bytes(key).group_id, "", fold)


def _of_member(key_class: MemberKey, fold: Fold) -> Callable[[bytes], tuple[str, str, Fold]]:
    def read(key: bytes) -> tuple[str, str, Fold]:
        stored = key_class.from_bytes(key)
        return stored.group_id, stored.member_id, fold

    return read


_FOLDS: Mapping[int, Callable[[bytes], tuple[str, str, Fold]]] = {
    3: _of_group(schema.ConsumerGroupMetadataKey, _fold_group),
    4: _of_group(schema.ConsumerGroupPartitionMetadataKey, _fold_partition_metadata),
    5: _of_member(schema.ConsumerGroupMemberMetadataKey, _fold_member),
    6: _of_group(schema.ConsumerGroupTargetAssignmentMetadataKey, _fold_target),
    7: _of_member(schema.ConsumerGroupTargetAssignmentMemberKey, _fold_target_member),
    8: _of_member(schema.ConsumerGroupCurrentMemberAssignmentKey, _fold_current),
}
CONSUMER_GROUP_KEYS = frozenset(_FOLDS)
