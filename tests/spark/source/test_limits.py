"""Limits and shares, for any ranges."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from fencepost.client.consumer.arrow_range import PartitionRange
from fencepost.spark.source.planning import count_offsets, gather_small, limit_offsets, split_ranges
from fencepost.types import NO_TOPIC_ID, OffsetRange, TopicPartition

lengths = st.lists(st.integers(1, 2**40) | st.integers(1, 50), min_size=1, max_size=30)
counts = st.none() | st.integers(1, 200)


def ranges_of(sizes: list[int]) -> list[PartitionRange]:
    return [
        PartitionRange(TopicPartition("t", index), NO_TOPIC_ID, OffsetRange(index * 7, index * 7 + size))
        for index, size in enumerate(sizes)
    ]


@given(lengths, counts, st.none() | st.integers(2**33, 2**40))
def test_pieces_are_exactly_the_ranges_and_none_is_empty(
    sizes: list[int], min_partitions: int | None, max_records: int | None
) -> None:
    ranges = ranges_of(sizes)
    pieces = split_ranges(ranges, min_partitions=min_partitions, max_records=max_records)
    assert all(len(piece.offsets) for piece in pieces)
    assert len(pieces) >= min(min_partitions or 1, sum(sizes))
    joined: dict[TopicPartition, OffsetRange] = {}
    for piece in pieces:
        before = joined.get(piece.topic_partition)
        assert before is None or before.end_offset == piece.offsets.start_offset
        start = piece.offsets.start_offset if before is None else before.start_offset
        joined[piece.topic_partition] = OffsetRange(start, piece.offsets.end_offset)
        assert max_records is None or len(piece.offsets) <= max_records
    assert joined == {whole.topic_partition: whole.offsets for whole in ranges}


@given(lengths, st.integers(1, 100))
def test_small_ranges_share_a_task_and_long_ones_have_their_own(sizes: list[int], at_least: int) -> None:
    ranges = ranges_of(sizes)
    tasks = gather_small(ranges, at_least=at_least)
    assert [one for task in tasks for one in task] == ranges
    assert all(tasks)
    for task in tasks:
        assert sum(len(one.offsets) for one in task[:-1]) < at_least
        assert len(task) == 1 or all(len(one.offsets) < at_least for one in task[1:])
    for task, following in itertools.pairwise(tasks):
        assert sum(len(one.offsets) for one in task) >= at_least or len(following[0].offsets) >= at_least


@given(lengths, st.integers(1, 2**41))
def test_a_limit_moves_every_partition_that_has_something_and_none_too_far(sizes: list[int], most: int) -> None:
    start = {whole.topic_partition: whole.offsets.start_offset for whole in ranges_of(sizes)}
    end = {whole.topic_partition: whole.offsets.end_offset for whole in ranges_of(sizes)}
    limited = limit_offsets(start, end, most)
    assert all(start[where] < limited[where] <= end[where] for where in start)
    assert count_offsets(start, limited) <= max(most, len(sizes) + most)
    if sum(sizes) <= most:
        assert limited == end


def test_a_partition_that_lost_its_end_does_not_count() -> None:
    short, long = TopicPartition("t", 0), TopicPartition("t", 1)
    start, end = {short: 10, long: 0}, {short: 5, long: 100}
    assert count_offsets(start, end) == 100
    assert limit_offsets(start, end, 10) == {short: 5, long: 10}
