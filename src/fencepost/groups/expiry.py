"""Offsets that are no longer needed (`offsets.retention.minutes`), on the wall clock.

Offsets of a group with members expire only for topics that it no longer consumes; those of an empty group when it
has been empty for that long; those of a simple group when they were committed that long ago. An offset that waits
for its transaction keeps its partition and its group. A group without offsets and members goes too.
"""

from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.decision import Decision
from fencepost.groups.deletion import group_tombstones
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import offset_commit_tombstone
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.records.record import Record
from fencepost.types import NO_TIMESTAMP, Now

MINUTE_MS = 60_000


def decide_expiry(state: GroupsState, *, now: Now) -> list[Decision]:
    """One decision for each group that loses something."""
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
