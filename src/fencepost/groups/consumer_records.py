"""KIP-848's records of `__consumer_offsets`, in Kafka's own layouts.

They are written as the difference between two values of a group: `records_between(before, after)`, folded in by
`apply_consumer_record`, gives `after` again. Removals come first, so that a reader of any prefix sees no partition
with two owners.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeVar
from uuid import UUID

from fencepost.groups.consumer_group import (
    LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerMember,
    TopicIdPartition,
    TopicMetadata,
)
from fencepost.groups.states import MemberState
from fencepost.records.record import Record
from fencepost.wire.message import VersionedRecord, record_version
from fencepost.wire.messages import consumer_group_record as schema

T = TypeVar("T")


def consumer_group_tombstones(group: ConsumerGroup) -> tuple[Record, ...]:
    """Everything that removes an empty group."""
    group_id = group.group_id
    keys = (
        *(schema.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id) for member_id in group.target),
        schema.ConsumerGroupTargetAssignmentMetadataKey(group_id),
        schema.ConsumerGroupPartitionMetadataKey(group_id),
        schema.ConsumerGroupMetadataKey(group_id),
    )
    return tuple(_record(key, None) for key in keys)


def records_between(before: ConsumerGroup, after: ConsumerGroup) -> tuple[Record, ...]:
    return (
        *_removed_members(before, after),
        *_subscriptions(before, after),
        *_targets(before, after),
        *_current_assignments(before, after),
    )


def _removed_members(before: ConsumerGroup, after: ConsumerGroup) -> Iterable[Record]:
    group_id = after.group_id
    for member_id in before.members:
        if member_id not in after.members:
            yield _record(schema.ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)
            yield _record(schema.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None)
            yield _record(schema.ConsumerGroupMemberMetadataKey(group_id, member_id), None)


def _subscriptions(before: ConsumerGroup, after: ConsumerGroup) -> Iterable[Record]:
    group_id = after.group_id
    for member_id, member in after.members.items():
        old = before.members.get(member_id)
        if old is member:
            continue
        if old is None or _metadata_of(old) != _metadata_of(member):
            yield _record(schema.ConsumerGroupMemberMetadataKey(group_id, member_id), _metadata_of(member))
    if before.subscription_metadata != after.subscription_metadata:
        topics = [
            schema.TopicMetadata(topic_id=topic.topic_id, topic_name=name, num_partitions=topic.partition_count)
            for name, topic in sorted(after.subscription_metadata.items())
        ]
        key = schema.ConsumerGroupPartitionMetadataKey(group_id)
        yield _record(key, schema.ConsumerGroupPartitionMetadataValue(topics))
    if before.group_epoch != after.group_epoch:
        key_of_epoch = schema.ConsumerGroupMetadataKey(group_id)
        yield _record(key_of_epoch, schema.ConsumerGroupMetadataValue(after.group_epoch))


def _targets(before: ConsumerGroup, after: ConsumerGroup) -> Iterable[Record]:
    group_id = after.group_id
    for member_id in before.target:
        if member_id not in after.target and member_id in after.members:
            yield _record(schema.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None)
    for member_id, partitions in after.target.items():
        if before.target.get(member_id) != partitions:
            topics = [schema.TopicPartition(topic_id, ids) for topic_id, ids in by_topic(partitions)]
            key = schema.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id)
            yield _record(key, schema.ConsumerGroupTargetAssignmentMemberValue(topics))
    if before.assignment_epoch != after.assignment_epoch:
        key_of_epoch = schema.ConsumerGroupTargetAssignmentMetadataKey(group_id)
        yield _record(key_of_epoch, schema.ConsumerGroupTargetAssignmentMetadataValue(after.assignment_epoch))


def _current_assignments(before: ConsumerGroup, after: ConsumerGroup) -> Iterable[Record]:
    for member_id, member in after.members.items():
        old = before.members.get(member_id)
        if old is member:
            continue
        if old is None or _current_of(old) != _current_of(member):
            key = schema.ConsumerGroupCurrentMemberAssignmentKey(after.group_id, member_id)
            yield _record(key, _current_of(member))


def _metadata_of(member: ConsumerMember) -> schema.ConsumerGroupMemberMetadataValue:
    return schema.ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor,
    )


def _current_of(member: ConsumerMember) -> schema.ConsumerGroupCurrentMemberAssignmentValue:
    return schema.ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state.value,
        assigned_partitions=_with_epochs(member.assigned),
        partitions_pending_revocation=_with_epochs(member.pending_revocation),
    )


def _with_epochs(assigned: Mapping[TopicIdPartition, int]) -> list[schema.TopicPartitions]:
    return [
        schema.TopicPartitions(topic_id, ids, [assigned[TopicIdPartition(topic_id, id_)] for id_ in ids])
        for topic_id, ids in by_topic(assigned)
    ]


def by_topic(partitions: Iterable[TopicIdPartition]) -> Iterable[tuple[UUID, list[int]]]:
    """Partitions as Kafka's messages list them: by topic id, in order."""
    for topic_id, group in groupby(sorted(partitions), key=lambda partition: partition.topic_id):
        yield topic_id, [partition for _, partition in group]


def _record(key: VersionedRecord, value: VersionedRecord | None) -> Record:
    return Record(key=key.to_bytes(key.MIN_VERSION), value=None if value is None else value.to_bytes(0))


def apply_consumer_record(groups: dict[str, ConsumerGroup], key: bytes, value: bytes | None) -> str:
    """Fold one record in; returns the group's id."""
    key_class, fold = _FOLDS[record_version(key)]
    stored: Any = key_class.from_bytes(key)
    group_id: str = stored.group_id
    group = groups.get(group_id)
    if group is None:
        if value is None:
            return group_id
        group = ConsumerGroup(group_id=group_id)
    folded = fold(group, getattr(stored, "member_id", ""), value)
    if folded is None:
        groups.pop(group_id, None)
    else:
        groups[group_id] = folded
    return group_id


def _fold_group(group: ConsumerGroup, _: str, value: bytes | None) -> ConsumerGroup | None:
    if value is None:
        return None
    return replace(group, group_epoch=schema.ConsumerGroupMetadataValue.from_bytes(value).epoch)


def _fold_partition_metadata(group: ConsumerGroup, _: str, value: bytes | None) -> ConsumerGroup:
    topics = [] if value is None else schema.ConsumerGroupPartitionMetadataValue.from_bytes(value).topics
    metadata = {topic.topic_name: TopicMetadata(topic.topic_id, topic.num_partitions) for topic in topics}
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
        stored = schema.ConsumerGroupCurrentMemberAssignmentValue(LEAVE_EPOCH, LEAVE_EPOCH)
    else:
        stored = schema.ConsumerGroupCurrentMemberAssignmentValue.from_bytes(value)
    member = replace(
        _member(group, member_id),
        member_epoch=stored.member_epoch,
        previous_member_epoch=stored.previous_member_epoch,
        state=MemberState(stored.state),
        assigned=_read_epochs(stored.assigned_partitions, default_epoch=stored.member_epoch),
        pending_revocation=_read_epochs(stored.partitions_pending_revocation, default_epoch=stored.member_epoch),
    )
    return replace(group, members={**group.members, member_id: member})


def _read_epochs(topics: list[schema.TopicPartitions], *, default_epoch: int) -> dict[TopicIdPartition, int]:
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


# Each takes the group, the member's id ("" for a record of the group), and the record's value.
_FOLDS: Mapping[
    int, tuple[type[VersionedRecord], Callable[[ConsumerGroup, str, bytes | None], ConsumerGroup | None]]
] = {
    3: (schema.ConsumerGroupMetadataKey, _fold_group),
    4: (schema.ConsumerGroupPartitionMetadataKey, _fold_partition_metadata),
    5: (schema.ConsumerGroupMemberMetadataKey, _fold_member),
    6: (schema.ConsumerGroupTargetAssignmentMetadataKey, _fold_target),
    7: (schema.ConsumerGroupTargetAssignmentMemberKey, _fold_target_member),
    8: (schema.ConsumerGroupCurrentMemberAssignmentKey, _fold_current),
}
CONSUMER_GROUP_KEYS = frozenset(_FOLDS)
