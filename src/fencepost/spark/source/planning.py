"""How much of what is there one micro-batch takes, and how it is shared out among tasks."""

import heapq
import itertools
from collections.abc import Mapping, Sequence

from fencepost.client.consumer.arrow_range import PartitionRange
from fencepost.spark.offsets import SourceOffsets
from fencepost.spark.source.cluster import SourceCluster
from fencepost.spark.source.following import LossPolicy, overtaken
from fencepost.spark.source.options import SourceOptions
from fencepost.spark.source.reading import RangePartition, ReadPlan
from fencepost.types import OffsetRange, TopicPartition

Positions = Mapping[TopicPartition, int]


SMALL_TASK_OFFSETS = 500
"""A task of fewer rows costs more to start than to run."""


def count_offsets(start: Positions, end: Positions) -> int:
    return sum(
        max(0, end[topic_partition] - offset) for topic_partition, offset in start.items() if topic_partition in end
    )


def limit_offsets(start: Positions, end: Positions, most: int) -> dict[TopicPartition, int]:
    """An end that is at most so many offsets away, each partition in proportion to what waits in it, but at least one.

    As in Spark's `kafka` source: with more partitions than offsets allowed, the limit is passed rather than a
    partition starved.
    """
    total = count_offsets(start, end)
    limited = dict(end)
    for topic_partition, offset in start.items() if total > most else ():
        waiting = end[topic_partition] - offset
        if waiting > 0:
            limited[topic_partition] = offset + min(waiting, max(1, most * waiting // total))
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


def read_plan(options: SourceOptions) -> ReadPlan:
    return ReadPlan(options.kafka, options.include_headers, LossPolicy(options.fail_on_data_loss))


def input_partitions(options: SourceOptions, start: SourceOffsets, end: SourceOffsets) -> list[RangePartition]:
    """Tasks for what lies between the two, in the order of topics, partitions and offsets."""
    ranges = [
        PartitionRange(
            topic_partition, end.topic_id(topic_partition.topic), OffsetRange(start.positions[topic_partition], offset)
        )
        for topic_partition, offset in sorted(end.positions.items())
        if start.positions.get(topic_partition, offset) < offset
    ]
    if options.min_partitions is None and options.max_records_per_partition is None:
        return [RangePartition(task) for task in gather_small(ranges)]
    pieces = split_ranges(ranges, min_partitions=options.min_partitions, max_records=options.max_records_per_partition)
    return [RangePartition((piece,)) for piece in pieces]


def not_overtaken(
    cluster: SourceCluster, start: SourceOffsets, end: SourceOffsets, policy: LossPolicy
) -> SourceOffsets:
    """`start`, moved to the first available offset where records went away; a loss, unless none of them is wanted."""
    wanted = [
        topic_partition
        for topic_partition, offset in start.positions.items()
        if offset < end.positions.get(topic_partition, offset)
    ]
    moved = dict(start.positions)
    for topic_partition, available in cluster.earliest(wanted).items():
        if available > moved[topic_partition]:
            policy.report(overtaken(topic_partition, expected=moved[topic_partition], available=available))
            moved[topic_partition] = available
    return start.at(moved)
