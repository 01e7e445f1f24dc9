"""OffsetDelete, DeleteGroups, and what is forgotten when a topic goes.

Tombstones also cancel offsets that wait for their transaction, so its commit does not bring them back.
"""

from collections.abc import Container, Iterable

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.consumer_records import consumer_group_tombstones
from fencepost.groups.decision import Decision
from fencepost.groups.records import group_metadata_tombstone, offset_commit_tombstone
from fencepost.groups.state import GroupsState
from fencepost.records.record import Record
from fencepost.types import TopicPartition
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


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
