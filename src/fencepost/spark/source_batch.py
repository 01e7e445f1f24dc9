"""The batch reader: everything between two places, as they are when the query is planned."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from fencepost.client.range_fetch import PartitionRange
from fencepost.spark.offsets import SourceOffsets
from fencepost.spark.source_cluster import SourceCluster
from fencepost.spark.source_limits import gather_small, split_ranges
from fencepost.spark.source_loss import LossPolicy, overtaken
from fencepost.spark.source_options import SourceOptions, batch_bounds
from fencepost.spark.source_reading import RangePartition, ReadPlan, read_partition
from fencepost.spark.source_start import resolve_end, resolve_start
from fencepost.types import OffsetRange


class FencepostBatchReader(DataSourceReader):
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._bounds = batch_bounds(options)
        self._plan = read_plan(options)

    def partitions(self) -> Sequence[InputPartition]:
        options, (first, last) = self._options, self._bounds
        cluster = SourceCluster(options.kafka, options.topics)
        try:
            latest_without_match = options.starts_at_latest_without_match
            start = resolve_start(cluster, first, self._plan.policy, latest_without_match=latest_without_match)
            end = resolve_end(cluster, last)
            return input_partitions(options, start, end)
        finally:
            cluster.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(self._plan, partition)


def read_plan(options: SourceOptions) -> ReadPlan:
    return ReadPlan(options.kafka, options.include_headers, LossPolicy(options.fail_on_data_loss))


def input_partitions(options: SourceOptions, start: SourceOffsets, end: SourceOffsets) -> list[RangePartition]:
    """Tasks for what lies between the two, in the order of topics, partitions and offsets."""
    ranges = [
        PartitionRange(where, end.topic_id(where.topic), OffsetRange(start.positions[where], offset))
        for where, offset in sorted(end.positions.items())
        if start.positions.get(where, offset) < offset
    ]
    if options.min_partitions is None and options.max_records_per_partition is None:
        return [RangePartition(task) for task in gather_small(ranges)]
    pieces = split_ranges(ranges, min_partitions=options.min_partitions, max_records=options.max_records_per_partition)
    return [RangePartition((piece,)) for piece in pieces]


def not_overtaken(
    cluster: SourceCluster, start: SourceOffsets, end: SourceOffsets, policy: LossPolicy
) -> SourceOffsets:
    """`start`, moved to the first available offset where records went away; a loss, unless none of them is wanted."""
    wanted = [where for where, offset in start.positions.items() if offset < end.positions.get(where, offset)]
    moved = dict(start.positions)
    for where, available in cluster.earliest(wanted).items():
        if available > moved[where]:
            policy.report(overtaken(where, expected=moved[where], available=available))
            moved[where] = available
    return SourceOffsets(moved, start.topic_ids, start.cluster_id)
