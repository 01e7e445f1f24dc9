"""The batch reader: everything between two places, as they are when the query is planned."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from fencepost.spark.source.cluster import SourceCluster
from fencepost.spark.source.options import SourceOptions, batch_bounds
from fencepost.spark.source.planning import input_partitions, read_plan
from fencepost.spark.source.reading import read_partition
from fencepost.spark.source.start import resolve_end, resolve_start


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
