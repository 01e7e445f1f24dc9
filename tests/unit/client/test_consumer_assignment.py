"""Positions and what lies between them: pure, no broker."""

import pytest

from fencepost.client.consumer.assignment import Assignment, PartitionState, Start
from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.exceptions import IllegalState, OffsetOutOfRange
from fencepost.types import TopicPartition
from tests.unit.client.stored import batch, marker

A, B, C = (TopicPartition("t", index) for index in range(3))


def chunk(fetch_offset: int, *batches: bytes) -> FetchChunk:
    return FetchChunk(A, b"".join(batches), fetch_offset=fetch_offset)


def at(offset: int) -> PartitionState:
    state = PartitionState(A)
    state.move_to(offset)
    return state


def test_the_fetch_offset_runs_ahead_of_the_position() -> None:
    state = at(10)
    state.keep(chunk(10, batch(10, 3)))
    assert (state.position, state.fetch_offset) == (10, 13)
    assert state.decode(check_crcs=True)
    assert [record.offset for record in state.decoded] == [10, 11, 12]
    assert state.position == 10


def test_the_position_moves_past_markers_only_when_all_before_them_is_handed_out() -> None:
    state = at(10)
    state.keep(chunk(10, batch(10, 1), marker(11)))
    state.decode(check_crcs=True)
    assert state.position == 10
    state.decoded.clear()
    state.position = 11
    assert not state.decode(check_crcs=True)
    assert state.position == 12


def test_the_position_moves_past_offsets_that_compaction_emptied() -> None:
    state = at(10)
    state.keep(chunk(10, batch(10, 1, last_offset_delta=9)))
    state.decode(check_crcs=True)
    state.decoded.clear()
    state.position = 11
    state.decode(check_crcs=True)
    assert state.position == state.fetch_offset == 20


def test_a_seek_drops_what_was_fetched_and_what_was_wrong() -> None:
    state = at(10)
    state.keep(chunk(10, batch(10, 3)))
    state.decode(check_crcs=True)
    state.problem = OffsetOutOfRange(A, 13, "too far")
    state.was_consumed = True
    state.move_to(5)
    assert (state.position, state.fetch_offset, state.has_something, state.problem) == (5, 5, False, None)
    assert state.was_consumed, "what was handed out before is still to be committed"
    state.start_from(Start.COMMITTED)
    assert not state.was_consumed


def test_where_reading_began_is_remembered_through_seeks_once_it_has_begun() -> None:
    state = at(10)
    state.seek(20)
    assert state.first_position == 20
    state.was_consumed = True
    state.seek(30)
    assert state.first_position == 20
    state.seek(5)
    state.start_from(Start.COMMITTED)
    assert (state.position, state.first_position) == (None, 5)


def test_partitions_that_are_taken_away_are_counted_if_records_of_them_were_handed_out() -> None:
    assignment = Assignment()
    assignment.become([A, B])
    assignment[A].was_consumed = True
    assignment.become([A])
    assert assignment.taken_away_count == 0
    assignment.become([])
    assert assignment.taken_away_count == 1


def test_partitions_that_stay_keep_their_place_and_those_that_go_keep_nothing() -> None:
    assignment = Assignment()
    assignment.become([A, B])
    kept, gone = assignment[A], assignment[B]
    kept.move_to(7)
    gone.move_to(3)
    gone.keep(chunk(3, batch(3, 2)))
    assignment.become([A, C])
    assert assignment[A] is kept
    assert kept.position == 7
    assert not gone.has_something
    assert assignment[C].position is None
    assert [state.topic_partition for state in assignment.unresolved()] == [C]


def test_who_had_a_turn_goes_to_the_end_of_the_line() -> None:
    assignment = Assignment()
    assignment.become([A, B, C])
    assignment.rotate(A)
    assert assignment.partitions == [B, C, A]
    assignment.rotate(TopicPartition("other", 0))
    assert assignment.partitions == [B, C, A]


def test_a_partition_that_is_not_assigned_is_named() -> None:
    with pytest.raises(IllegalState, match="t-1 is not assigned"):
        Assignment()[B]
