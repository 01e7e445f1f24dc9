"""How much of what is there one micro-batch takes, and how it is shared out among tasks. Pure."""

import heapq
import itertools
from collections.abc import Mapping, Sequence

from fencepost.client.range_fetch import PartitionRange
from fencepost.types import OffsetRange, TopicPartition

Positions = Mapping[TopicPartition, int]
SMALL_TASK_OFFSETS = 500
"""A task of fewer rows costs more to start than to run."""


def count_offsets(start: Positions, end: Positions) -> int:
    return sum(max(0, end[where] - offset) for where, offset in start.items() if where in end)


def limit_offsets(start: Positions, end: Positions, most: int) -> dict[TopicPartition, int]:
    """An end that is at most so many offsets away, each partition in proportion to what waits in it, but at least one.

    As in Spark's `kafka` source: with more partitions than offsets allowed, the limit is passed rather than a
    partition starved.
    """
    total = count_offsets(start, end)
    limited = dict(end)
    for where, offset in start.items() if total > most else ():
        waiting = end[where] - offset
        if waiting > 0:
            limited[where] = offset + min(waiting, max(1, most * waiting // total))
    return limited


def split_ranges(
    ranges: Sequence[PartitionRange], *, min_partitions: int | None, max_records: int | None
) -> list[PartitionRange]:
    """One range for each task: none longer than `max_records`, and at least `min_partitions` if there is enough."""
    counts = [-(-len(whole.offsets) // max_records) if max_records else 1 for whole in ranges]
    missing = (min_partitions or 0) - sum(counts)
    longest_first = [(-len(whole.offsets) / counts[index], index) for index, whole in enumerate(ranges)]
    heapq.heapify(longest_first)
    while missing > 0 and longest_first and longest_first[0][0] < -1:
        index = longest_first[0][1]
        counts[index] += 1
        heapq.heapreplace(longest_first, (-len(ranges[index].offsets) / counts[index], index))
        missing -= 1
    return [piece for whole, count in zip(ranges, counts, strict=True) for piece in _cut(whole, count)]


def gather_small(
    ranges: Sequence[PartitionRange], *, at_least: int = SMALL_TASK_OFFSETS
) -> list[tuple[PartitionRange, ...]]:
    """What each task reads, one range after the other: neighbours share a task until it has `at_least` offsets."""
    tasks: list[list[PartitionRange]] = []
    offset_count = at_least
    for one in ranges:
        if offset_count >= at_least or len(one.offsets) >= at_least:
            tasks.append([])
            offset_count = 0
        tasks[-1].append(one)
        offset_count += len(one.offsets)
    return [tuple(task) for task in tasks]


def _cut(whole: PartitionRange, count: int) -> list[PartitionRange]:
    """Pieces whose lengths differ by one at most; none is empty."""
    start, length = whole.offsets.start_offset, len(whole.offsets)
    bounds = [start + length * index // count for index in range(count + 1)]
    return [whole._replace(offsets=OffsetRange(*pair)) for pair in itertools.pairwise(bounds) if pair[0] < pair[1]]
