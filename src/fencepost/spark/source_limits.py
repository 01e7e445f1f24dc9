"""How much of what is there one micro-batch takes, and how it is shared out among tasks. Pure."""

import itertools
from collections.abc import Mapping, Sequence

from fencepost.client.range_fetch import PartitionRange
from fencepost.types import OffsetRange, TopicPartition

Positions = Mapping[TopicPartition, int]


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
    """One range for a task: those that are long are cut, so that there are about `min_partitions` in all."""
    if max_records is not None:
        ranges = [piece for whole in ranges for piece in _cut(whole, -(-len(whole.offsets) // max_records))]
    if min_partitions is None or len(ranges) >= min_partitions:
        return list(ranges)
    total = sum(len(whole.offsets) for whole in ranges)
    small = [whole for whole in ranges if _share(whole, total, min_partitions) == 1]
    left_total = total - sum(len(whole.offsets) for whole in small)
    left_count = max(1, min_partitions - len(small))
    return [
        piece
        for whole in ranges
        for piece in _cut(whole, 1 if whole in small else _share(whole, left_total, left_count))
    ]


def _share(whole: PartitionRange, total: int, count: int) -> int:
    return max(1, round(len(whole.offsets) / total * count)) if total else 1


def _cut(whole: PartitionRange, count: int) -> list[PartitionRange]:
    """Pieces of lengths that differ by one at most; none is empty."""
    start, length = whole.offsets.start_offset, len(whole.offsets)
    bounds = [start + length * index // count for index in range(count + 1)]
    return [whole._replace(offsets=OffsetRange(*pair)) for pair in itertools.pairwise(bounds) if pair[0] < pair[1]]
