"""OffsetDelete, DeleteGroups, and what is forgotten when a topic goes or the time of an offset is over.

Tombstones also cancel offsets that wait for their transaction, so its commit does not bring them back.
"""

from collections.abc import Container, Iterable

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.consumer_records import consumer_group_tombstones
from fencepost.groups.decision import Decision
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import group_metadata_tombstone, offset_commit_tombstone
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.records.record import Record
from fencepost.types import NO_TIMESTAMP, Now, TopicPartition
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

MINUTE_MS = 60_000


def decide_offset_delete(
    state: GroupsState, request: OffsetDeleteRequest, *, existing: Container[TopicPartition]
) -> tuple[Decision, OffsetDeleteResponse]:
    group_id, group = request.group_id, state.find(request.group_id)
    if not group_id:
        return Decision(group_id), OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    if group is None:
        return Decision(group_id), OffsetDeleteResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND)
    if isinstance(group, ClassicGroup) and not group.is_empty and not group.uses_consumer_protocol:
        return Decision(group_id), OffsetDeleteResponse(error_code=ErrorCode.NON_EMPTY_GROUP)
    records: list[Record] = []
    kept = _kept_partitions(state, group_id)

    def delete(topic_partition: TopicPartition) -> ErrorCode:
        if topic_partition not in existing:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if group.is_subscribed_to(topic_partition.topic):
            return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        if topic_partition in kept:
            records.append(offset_commit_tombstone(group_id, topic_partition))
        return ErrorCode.NONE

    topics = [
        OffsetDeleteResponseTopic(
            topic.name,
            [
                OffsetDeleteResponsePartition(index, delete(TopicPartition(topic.name, index)))
                for index in (partition.partition_index for partition in topic.partitions)
            ],
        )
        for topic in request.topics
    ]
    return Decision(group_id, tuple(records)), OffsetDeleteResponse(topics=topics)


def decide_delete_group(state: GroupsState, group_id: str) -> Decision | ErrorCode:
    """One group of a DeleteGroups request; it must be empty."""
    group = state.find(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if not group.is_empty:
        return ErrorCode.NON_EMPTY_GROUP
    offsets = (offset_commit_tombstone(group_id, each) for each in _kept_partitions(state, group_id))
    return Decision(group_id, (*offsets, *group_tombstones(state, group_id)))


def group_tombstones(state: GroupsState, group_id: str) -> tuple[Record, ...]:
    """What removes the group itself, its offsets apart. A simple group has no record of its own."""
    consumer_group = state.consumer.get(group_id)
    if consumer_group is not None:
        return consumer_group_tombstones(consumer_group)
    return (group_metadata_tombstone(group_id),) if group_id in state.classic else ()


def decide_partitions_deleted(state: GroupsState, partitions: Iterable[TopicPartition]) -> list[Decision]:
    """Forget every group's offsets for partitions that no longer exist."""
    deleted = dict.fromkeys(partitions)
    decisions = []
    for group_id in state.offsets.group_ids():
        gone = tuple(each for each in _kept_partitions(state, group_id) if each in deleted)
        if gone:
            decisions.append(Decision(group_id, tuple(offset_commit_tombstone(group_id, each) for each in gone)))
    return decisions


def _kept_partitions(state: GroupsState, group_id: str) -> dict[TopicPartition, None]:
    return dict.fromkeys((*state.offsets.committed(group_id), *state.offsets.pending_partitions(group_id)))


def decide_expiry(state: GroupsState, *, now: Now) -> list[Decision]:
    """Offsets that are kept no longer (`offsets.retention.minutes`), on the wall clock: one decision for each group.

    Offsets of a group with members expire only for topics that it no longer consumes; those of an empty group when it
    has been empty for that long; those of a simple group when they were committed that long ago. An offset that waits
    for its transaction keeps its partition and its group. A group without offsets and members goes too.
    """
    decisions = (_expire_group(state, group_id, now.wall_ms) for group_id in tuple(state.group_ids()))
    return [decision for decision in decisions if decision.records]


def _expire_group(state: GroupsState, group_id: str, now_ms: int) -> Decision:
    group = state.find(group_id)
    records: list[Record] = []
    if group is None:
        return Decision(group_id)
    kept = len(state.offsets.pending_partitions(group_id))
    for partition, offset in state.offsets.committed(group_id).items():
        is_in_use = group.is_subscribed_to(partition.topic) or state.offsets.has_pending(group_id, partition)
        if not is_in_use and _is_expired(state, group, offset, now_ms):
            records.append(offset_commit_tombstone(group_id, partition))
        else:
            kept += 1
    has_pending_members = isinstance(group, ClassicGroup) and bool(group.pending_members)
    if kept == 0 and group.is_empty and not has_pending_members:
        records.extend(group_tombstones(state, group_id))
    return Decision(group_id, tuple(records))


def _is_expired(
    state: GroupsState, group: ClassicGroup | ConsumerGroup, offset: OffsetAndMetadata, now_ms: int
) -> bool:
    if not _may_expire(group):
        return False
    if offset.expire_timestamp_ms != NO_TIMESTAMP:
        return now_ms >= offset.expire_timestamp_ms
    since_ms = offset.commit_timestamp_ms
    if isinstance(group, ClassicGroup) and group.protocol_type is not None and group.is_empty:
        empty_since_ms = group.current_state_timestamp_ms
        since_ms = empty_since_ms if empty_since_ms != NO_TIMESTAMP else since_ms
    return now_ms - since_ms >= state.settings.offsets_retention_minutes * MINUTE_MS


def _may_expire(group: ClassicGroup | ConsumerGroup) -> bool:
    """Of a group that is rebalancing, or whose topics cannot be read, nothing expires."""
    if isinstance(group, ConsumerGroup) or group.is_empty:
        return True
    return group.state is ClassicGroupState.STABLE and group.subscribed_topics() is not None
