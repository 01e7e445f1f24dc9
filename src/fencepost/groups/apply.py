"""Changes of state, none of which may be refused: records in journal order, markers, and the volatile part of a
decision.

`apply_record` and `apply_marker` rebuild everything at recovery exactly as they did live. `apply_memory` comes
after the records of its decision. After recovery, `resume_members` gives every member a full session from now.
"""

from dataclasses import replace

from fencepost.groups.classic_group import from_metadata
from fencepost.groups.consumer_group import ConsumerTimers
from fencepost.groups.consumer_records import CONSUMER_GROUP_KEYS, apply_consumer_record
from fencepost.groups.decision import Decision
from fencepost.groups.offsets import OpenTransaction
from fencepost.groups.records import GROUP_METADATA_KEY, OFFSET_COMMIT_KEYS, read_offset
from fencepost.groups.state import GroupsState
from fencepost.groups.states import MemberState
from fencepost.types import NO_PRODUCER_ID, Now, TopicPartition
from fencepost.wire.message import record_version
from fencepost.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey


def apply_record(
    state: GroupsState,
    key: bytes,
    value: bytes | None,
    *,
    offsets_partition: int,
    record_offset: int,
    producer_id: int = NO_PRODUCER_ID,
) -> None:
    """Fold in one record of `__consumer_offsets`. Kinds that Fencepost never writes are passed over, as in Kafka."""
    kind = record_version(key)
    if kind in OFFSET_COMMIT_KEYS:
        transaction = None if producer_id == NO_PRODUCER_ID else OpenTransaction(offsets_partition, producer_id)
        _apply_offset(state, key, value, record_offset, transaction)
    elif kind == GROUP_METADATA_KEY:
        _apply_group_metadata(state, key, value)
    elif kind in CONSUMER_GROUP_KEYS:
        group_id = apply_consumer_record(state.consumer, key, value)
        if group_id not in state.consumer:
            state.consumer_timers.pop(group_id, None)
            state.wake_times.set(group_id, None)


def _apply_offset(
    state: GroupsState, key: bytes, value: bytes | None, record_offset: int, transaction: OpenTransaction | None
) -> None:
    stored = OffsetCommitKey.from_bytes(key)
    partition = TopicPartition(stored.topic, stored.partition)
    if value is None:
        state.offsets.apply_tombstone(stored.group, partition)
    elif transaction is None:
        state.offsets.apply_commit(stored.group, partition, read_offset(value, record_offset=record_offset))
    else:
        offset = read_offset(value, record_offset=record_offset)
        state.offsets.apply_pending(transaction, stored.group, partition, offset)


def _apply_group_metadata(state: GroupsState, key: bytes, value: bytes | None) -> None:
    group_id = GroupMetadataKey.from_bytes(key).group
    if value is None:
        state.metadata.pop(group_id, None)
        state.classic.pop(group_id, None)
        state.wake_times.set(group_id, None)
    else:
        metadata = GroupMetadataValue.from_bytes(value)
        state.metadata[group_id] = metadata
        state.classic[group_id] = from_metadata(group_id, metadata)


def apply_marker(state: GroupsState, *, offsets_partition: int, producer_id: int, is_commit: bool) -> None:
    """The end of a transaction, as one partition of `__consumer_offsets` sees it."""
    state.offsets.apply_marker(OpenTransaction(offsets_partition, producer_id), is_commit=is_commit)


def apply_memory(state: GroupsState, decision: Decision) -> None:
    """Take over parked requests and deadlines. A group without a record and without members is dropped."""
    memory = decision.memory
    if memory is None:
        return
    if isinstance(memory, ConsumerTimers):
        if memory.group_id in state.consumer:
            state.consumer_timers[memory.group_id] = memory
        else:
            state.consumer_timers.pop(memory.group_id, None)
    elif memory.is_empty and not memory.pending_members and memory.group_id not in state.metadata:
        state.classic.pop(memory.group_id, None)
    else:
        state.classic[memory.group_id] = memory
    state.wake_times.set(memory.group_id, memory.next_deadline_ms)


def resume_members(state: GroupsState, now: Now) -> None:
    """After recovery: no member could be heard while the broker was down."""
    for group_id, group in state.classic.items():
        members = {
            member_id: replace(member, session_deadline_ms=now.monotonic_ms + member.session_timeout_ms)
            for member_id, member in group.members.items()
        }
        state.classic[group_id] = resumed = replace(group, members=members)
        state.wake_times.set(group_id, resumed.next_deadline_ms)
    session_timeout_ms = state.settings.group_consumer_session_timeout_ms
    for group_id, consumer_group in state.consumer.items():
        timers = ConsumerTimers(group_id=group_id)
        for member_id, member in consumer_group.members.items():
            timers = timers.with_session(member_id, now.monotonic_ms + session_timeout_ms)
            if member.state is MemberState.UNREVOKED_PARTITIONS:
                timers = timers.with_rebalance(member_id, now.monotonic_ms + member.rebalance_timeout_ms)
        state.consumer_timers[group_id] = timers
        state.wake_times.set(group_id, timers.next_deadline_ms)
