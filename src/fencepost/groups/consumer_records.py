"""KIP-848's records of `__consumer_offsets`, in Kafka's own layouts: written as the difference between two values of a
group.

`records_between(before, after)`, folded in by `consumer_apply`, gives `after` again. Removals come first, so that a
reader of any prefix sees no partition with two owners.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from uuid import UUID

from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.decision import Record
from fencepost.wire.message import VersionedRecord
from fencepost.wire.messages import consumer_group_record as schema


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
    return Record(key.to_bytes(key.MIN_VERSION), None if value is None else value.to_bytes(0))
