"""OffsetDelete, DeleteGroups, and what is forgotten when a topic goes.

Tombstones also cancel offsets that wait for their transaction, so its commit does not bring them back.
"""

from collections.abc import Iterable

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup, Token
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.consumer_records import consumer_group_tombstones
from fencepost.groups.decision import Decision, Record, Reply, answer
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import group_metadata_tombstone, offset_commit_tombstone
from fencepost.groups.replies import DeletedGroup, OffsetDeleteReply, PartitionError, TopicErrors
from fencepost.groups.requests import OffsetDelete, OffsetDeleteTopic
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.types import NO_TIMESTAMP, Now, TopicPartition


def decide_offset_delete(state: GroupsState, request: OffsetDelete, *, token: Token) -> Decision:
    group = state.find(request.group_id)
    refusal = _refusal_of_offset_delete(group, request.group_id)
    if group is None or refusal is not None:
        error_code = refusal or ErrorCode.GROUP_ID_NOT_FOUND
        return answer(request.group_id, token, OffsetDeleteReply(error_code=error_code))
    records: list[Record] = []
    topics = tuple(_delete_topic(state, group, topic, records) for topic in request.topics)
    return Decision(request.group_id, tuple(records), (Reply(token, OffsetDeleteReply(topics=topics)),))


def _refusal_of_offset_delete(group: ClassicGroup | ConsumerGroup | None, group_id: str) -> ErrorCode | None:
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    if isinstance(group, ClassicGroup) and not group.is_empty and not group.uses_consumer_protocol:
        return ErrorCode.NON_EMPTY_GROUP
    return None


def _delete_topic(
    state: GroupsState, group: ClassicGroup | ConsumerGroup, topic: OffsetDeleteTopic, records: list[Record]
) -> TopicErrors:
    if group.is_subscribed_to(topic.name):
        code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        return TopicErrors(topic.name, tuple(PartitionError(index, code) for index in topic.partition_indexes))
    for index in topic.partition_indexes:
        partition = TopicPartition(topic.name, index)
        if partition in _kept_partitions(state, group.group_id):
            records.append(offset_commit_tombstone(group.group_id, partition))
    return TopicErrors(topic.name, tuple(map(PartitionError, topic.partition_indexes)))


def decide_delete_group(state: GroupsState, group_id: str, *, token: Token) -> Decision:
    """One group of a DeleteGroups request; it must be empty."""
    group = state.find(group_id)
    if group is None or not group.is_empty:
        error_code = ErrorCode.GROUP_ID_NOT_FOUND if group is None else ErrorCode.NON_EMPTY_GROUP
        return answer(group_id, token, DeletedGroup(group_id, error_code))
    offsets = tuple(offset_commit_tombstone(group_id, each) for each in _kept_partitions(state, group_id))
    return Decision(group_id, (*offsets, *group_tombstones(state, group_id)), (Reply(token, DeletedGroup(group_id)),))


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


# Offsets that nobody needs any more (`offsets.retention.minutes`), on the wall clock.
#
# Offsets of a group with members expire only for topics that it no longer consumes; those of an empty group when it
# has been empty for that long; those of a simple group when they were committed that long ago. An offset that waits
# for its transaction keeps its partition and its group. A group without offsets and members goes too.


MINUTE_MS = 60_000


def decide_expiry(state: GroupsState, *, now: Now) -> list[Decision]:
    """One decision per group that loses something."""
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
