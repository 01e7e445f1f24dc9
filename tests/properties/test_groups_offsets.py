"""Offsets against a naive reading of the whole log, and checkpoints against the log that they stand for."""

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.groups.apply import apply_marker, apply_record
from fencepost.groups.checkpoint import dump_state, load_state
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import offset_commit_record, offset_commit_tombstone
from fencepost.groups.state import GroupsState
from fencepost.settings import BrokerSettings
from fencepost.types import NO_PRODUCER_ID, TopicPartition

PARTITION_OF_GROUP = {"g0": 0, "g1": 0, "g2": 1}
PARTITIONS = [TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)]
PRODUCERS = [10, 11, 12]


class Commit(NamedTuple):
    group_id: str
    partition: TopicPartition
    producer_id: int
    offset: int


class Tombstone(NamedTuple):
    group_id: str
    partition: TopicPartition


class Marker(NamedTuple):
    offsets_partition: int
    producer_id: int
    is_commit: bool


Event = Commit | Tombstone | Marker

groups = st.sampled_from(sorted(PARTITION_OF_GROUP))
events = st.one_of(
    st.builds(
        Commit,
        groups,
        st.sampled_from(PARTITIONS),
        st.sampled_from([NO_PRODUCER_ID, *PRODUCERS]),
        st.integers(0, 2**63 - 1),
    ),
    st.builds(Tombstone, groups, st.sampled_from(PARTITIONS)),
    st.builds(Marker, st.integers(0, 1), st.sampled_from(PRODUCERS), st.booleans()),
)
logs = st.lists(events, max_size=60)


def fresh() -> GroupsState:
    return GroupsState(BrokerSettings(), lambda prefix: prefix)


def fold(state: GroupsState, log: list[Event], *, first_offset: int = 0) -> GroupsState:
    for record_offset, event in enumerate(log, first_offset):
        if isinstance(event, Marker):
            apply_marker(
                state,
                offsets_partition=event.offsets_partition,
                producer_id=event.producer_id,
                is_commit=event.is_commit,
            )
            continue
        if isinstance(event, Commit):
            offset = OffsetAndMetadata(event.offset, commit_timestamp_ms=record_offset)
            record, producer_id = offset_commit_record(event.group_id, event.partition, offset), event.producer_id
        else:
            record, producer_id = offset_commit_tombstone(event.group_id, event.partition), NO_PRODUCER_ID
        apply_record(
            state,
            record.key,
            record.value,
            offsets_partition=PARTITION_OF_GROUP[event.group_id],
            record_offset=record_offset,
            producer_id=producer_id,
        )
    return state


def naive(log: list[Event], group_id: str, partition: TopicPartition) -> tuple[int | None, bool]:
    """The committed offset and whether something is pending: the last record that counts, found by searching."""
    committed, is_pending = None, False
    of_key = [(at, e) for at, e in enumerate(log) if not isinstance(e, Marker) and e[:2] == (group_id, partition)]
    tombstones = [at for at, event in of_key if isinstance(event, Tombstone)]
    for at, event in of_key:
        if isinstance(event, Tombstone) or (tombstones and at < tombstones[-1]):
            continue
        if event.producer_id == NO_PRODUCER_ID:
            committed = event.offset
            continue
        ends = [
            later.is_commit
            for later in log[at:]
            if isinstance(later, Marker)
            and later.producer_id == event.producer_id
            and later.offsets_partition == PARTITION_OF_GROUP[group_id]
        ]
        if not ends:
            is_pending = True
        elif ends[0]:
            committed = event.offset
    return committed, is_pending


@given(logs)
@settings(max_examples=400, deadline=None)
def test_offsets_are_what_a_search_through_the_log_says(log):
    state = fold(fresh(), log)
    for group_id in PARTITION_OF_GROUP:
        kept = 0
        for partition in PARTITIONS:
            offset = state.offsets.committed(group_id).get(partition)
            seen = (None if offset is None else offset.committed_offset, state.offsets.has_pending(group_id, partition))
            assert seen == naive(log, group_id, partition)
            kept += seen != (None, False)
        assert (state.find(group_id) is not None) == bool(kept), "a simple group lives as long as its offsets"


@given(logs, st.data())
@settings(max_examples=200, deadline=None)
def test_a_checkpoint_stands_for_the_log_before_it(log, data):
    cut = data.draw(st.integers(0, len(log)))
    loaded = fresh()
    load_state(loaded, dump_state(fold(fresh(), log[:cut])))
    fold(loaded, log[cut:], first_offset=cut)
    assert dump_state(loaded) == dump_state(fold(fresh(), log))


@given(logs)
@settings(max_examples=200, deadline=None)
def test_the_end_of_every_transaction_leaves_nothing_open(log):
    ends: list[Event] = [Marker(partition, producer, True) for partition in (0, 1) for producer in PRODUCERS]
    state = fold(fresh(), log + ends)
    assert list(state.offsets.all_pending()) == []
    for group_id in PARTITION_OF_GROUP:
        assert state.offsets.pending_partitions(group_id) == ()
