"""How much of what has arrived goes into one record batch: without a broker."""

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace
from typing import cast

import pyarrow as pa
import pytest

from fencepost.client.consumer.arrow_reading import has_room, take_arrow, take_pieces
from fencepost.client.consumer.assignment import Assignment
from fencepost.client.consumer.core import ConsumerCore
from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.exceptions import CorruptRecord, NoOffsetForPartition
from fencepost.types import TopicPartition
from tests.unit.client.stored import batch, marker

A, B, C = (TopicPartition("t", index) for index in range(3))
VALUE = bytes(1000)


def core_of(*partitions: TopicPartition) -> ConsumerCore:
    assignment = Assignment()
    assignment.become(partitions)
    for state in assignment:
        state.move_to(0)
    return cast(
        ConsumerCore,
        SimpleNamespace(
            assignment=assignment,
            settings=SimpleNamespace(check_crcs=True),
            handing_out=nullcontext,
            fetch_in_bulk=lambda: None,
            send=lambda: None,
        ),
    )


def answer(offset: int) -> bytes:
    """Five records, three of an aborted transaction, its marker, and one more: ten offsets, six rows."""
    aborted = batch(offset + 5, 3, producer_id=7, value=VALUE) + marker(offset + 8, 7, is_commit=False)
    return batch(offset, 5, value=VALUE) + aborted + batch(offset + 9, value=VALUE)


def fill(core: ConsumerCore, *, answers: int) -> None:
    for state in core.assignment:
        for number in range(answers):
            offset = number * 10
            aborted = [(7, offset + 5)]
            state.keep(
                FetchChunk(state.topic_partition, answer(offset), fetch_offset=offset, aborted_transactions=aborted)
            )


def test_the_first_piece_always_has_room_and_another_as_long_as_both_fit() -> None:
    assert has_room(0, 11, bytes_max=10)
    assert has_room(4, 6, bytes_max=10)
    assert not has_room(4, 7, bytes_max=10)


@pytest.mark.parametrize("bytes_max", [1, 7_000, 15_000, 10**9])
def test_what_does_not_fit_into_one_record_batch_comes_with_the_next(bytes_max: int) -> None:
    core = core_of(A, B, C)
    fill(core, answers=3)
    seen: Counter[tuple[int, int]] = Counter()
    next_offsets = dict.fromkeys(range(3), 0)
    while (taken := take_arrow(core, include_headers=False, bytes_max=bytes_max)).num_rows:
        assert taken.nbytes <= bytes_max or taken.num_rows == 6
        for partition, offset in zip(taken["partition"].to_pylist(), taken["offset"].to_pylist(), strict=True):
            assert offset >= next_offsets[partition], "in order within each partition"
            next_offsets[partition] = offset + 1
            seen[partition, offset] += 1
        for state in core.assignment:
            assert state.position is not None
            is_behind = state.position >= next_offsets[state.topic_partition.partition]
            is_not_ahead = all((state.topic_partition.partition, row) in seen for row in wanted(state.position))
            assert is_behind
            assert is_not_ahead, "a position, which may be committed, never passes what was handed out"
    assert seen == Counter((partition, offset) for partition in range(3) for offset in wanted(30))


def wanted(end: int) -> list[int]:
    return [offset for offset in range(end) if offset % 10 not in (5, 6, 7, 8)]


def test_a_partition_that_always_fills_the_batch_does_not_shut_out_the_others() -> None:
    core = core_of(A, B)
    fill(core, answers=2)
    turns = [take_arrow(core, include_headers=False, bytes_max=1)["partition"].to_pylist()[0] for _ in range(2)]
    assert sorted(turns) == [0, 1]


def test_pieces_of_a_table_are_not_limited() -> None:
    core = core_of(A, B, C)
    fill(core, answers=3)
    assert pa.Table.from_batches(take_pieces(core, include_headers=False)).num_rows == 54


def test_a_problem_comes_behind_the_rows_before_it_and_not_if_it_lies_behind_the_end() -> None:
    core = core_of(A)
    core.assignment[A].keep(FetchChunk(A, batch(0, 10), fetch_offset=0))
    core.assignment[A].problem = CorruptRecord(A, 10, "damaged")
    (piece,) = take_pieces(core, include_headers=False, ends={A: 10})
    assert piece.num_rows == 10
    assert take_pieces(core, include_headers=False, ends={A: 10}) == []
    with pytest.raises(CorruptRecord):
        take_pieces(core, include_headers=False, ends={A: 11})


def test_a_partition_that_has_nowhere_to_start_from_says_so() -> None:
    core = core_of(A)
    core.assignment[A].position = None
    core.assignment[A].problem = NoOffsetForPartition(A, None, "nothing is committed")
    with pytest.raises(NoOffsetForPartition):
        take_arrow(core, include_headers=False)
