"""The rows of an Arrow table to record batches for partitions, without a Python object for each row.

Rows go where their `partition` column says, else where Kafka's murmur2 of their key says; rows without either are dealt
out in runs. Rows of one partition keep their order. The table is taken in slices, so that memory is bounded.
"""

import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fencepost.client.exceptions import RecordTooLarge
from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.settings import ProducerSettings
from fencepost.errors import ErrorCode
from fencepost.records.columnar import encode
from fencepost.records.columnar.arrow import record_columns
from fencepost.records.columnar.columns import RecordColumns
from fencepost.records.compression import Compression
from fencepost.settings import InvalidSetting
from fencepost.types import TopicPartition

SLICE_BYTES = 2 * 1024 * 1024
"""For each partition: some batches, which are sent while the next are encoded."""
SLICE_BYTES_MAX = 8 * 1024 * 1024
RECORD_OVERHEAD_BYTES = 8
"""Lengths and deltas of a record, less the offsets that Arrow keeps for its key and value, nearly always."""
RUN_ROWS = 8192
"""Rows without a key that stay together on one partition."""
REQUEST_OVERHEAD_BYTES = 512


class ArrowSending:
    def __init__(
        self, settings: ProducerSettings, topic: TopicMetadata, *, max_message_bytes: int, is_sealed: bool
    ) -> None:
        """Batches that are not stamped later are to be sealed."""
        self._topic = topic
        self._settings = settings
        self._compression = Compression[settings.compression_type.upper()]
        room_bytes = settings.max_request_size - REQUEST_OVERHEAD_BYTES
        self._batch_bytes_max = max(1, min(room_bytes, max_message_bytes, settings.buffer_memory))
        self._is_sealed = is_sealed
        self._next_run = random.randrange(max(1, topic.partition_count))

    def batches(self, table: pa.Table | pa.RecordBatch) -> Iterator[tuple[TopicPartition, memoryview]]:
        rows = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
        wanted_bytes = min(SLICE_BYTES * max(1, self._topic.partition_count), SLICE_BYTES_MAX)
        slice_bytes = min(wanted_bytes, max(1, self._settings.buffer_memory // 2))
        # A little less than whole batches, so that none of a few bytes is left over at the end of each slice.
        slice_bytes = max(slice_bytes - slice_bytes % self._batch_bytes_max, self._batch_bytes_max)
        size_bytes = rows.nbytes + RECORD_OVERHEAD_BYTES * len(rows)
        slice_rows = max(1, int(len(rows) * slice_bytes / max(1, size_bytes)))
        for start in range(0, len(rows), slice_rows):
            first_row = start
            for part in rows.slice(start, slice_rows).combine_chunks().to_batches():
                yield from self._encoded(part, first_row)
                first_row += len(part)

    def _encoded(self, part: pa.RecordBatch, first_row: int) -> Iterator[tuple[TopicPartition, memoryview]]:
        columns = record_columns(part, default_timestamp_ms=time.time_ns() // 1_000_000)
        for partition, rows in self._shares(part, columns):
            try:
                batches = encode.encode_columns(
                    columns if rows is None else columns.take(rows),
                    compression=self._compression,
                    batch_bytes_max=self._batch_bytes_max,
                    is_sealed=self._is_sealed,
                )
            except encode.RecordTooLarge as problem:
                row = first_row + (problem.row if rows is None else int(rows[problem.row]))
                message = f"'{self._topic.name}', partition {partition}: {problem.at(row)}"
                raise RecordTooLarge(message, error_code=ErrorCode.MESSAGE_TOO_LARGE) from problem
            for batch in batches:
                yield TopicPartition(self._topic.name, partition), batch

    def _shares(self, part: pa.RecordBatch, columns: RecordColumns) -> Iterator[tuple[int, Any]]:
        """Each partition with its rows, in their order; None stands for all."""
        if self._topic.partition_count == 1 and "partition" not in part.schema.names:
            return iter([(0, None)])
        return _grouped(self._partitions(part, columns))

    def _partitions(self, part: pa.RecordBatch, columns: RecordColumns) -> Any:
        count = self._topic.partition_count
        partitions = encode.murmur2_partitions(columns.keys, count)
        if "partition" in part.schema.names:
            given = part.column("partition").cast(pa.int32())
            for extreme in pc.min_max(given).as_py().values():
                if extreme is not None and not 0 <= extreme < count:
                    message = f"'{self._topic.name}' has {count} partitions, there is no {extreme}"
                    raise InvalidSetting(f"{message}; null stands for the one that the key decides")
            numbers = given.fill_null(-1).to_numpy()
            partitions = np.where(numbers >= 0, numbers, partitions)
        homeless = np.flatnonzero(partitions < 0)
        if len(homeless):
            available = np.array(self._topic.available_partitions or sorted(self._topic.partitions), np.int32)
            runs = self._next_run + np.arange(len(homeless)) // RUN_ROWS
            self._next_run = int(runs[-1]) + 1
            partitions[homeless] = available[runs % len(available)]
        return partitions


def _grouped(partitions: Any) -> Iterator[tuple[int, Any]]:
    counts = np.bincount(partitions)
    if int(counts[partitions[0]]) == len(partitions):
        yield int(partitions[0]), None
        return
    # Numbers of 16 bits are sorted in linear time.
    numbers = partitions.astype(np.uint16) if len(counts) <= 2**16 else partitions
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(counts)
    for partition in np.flatnonzero(counts).tolist():
        yield partition, order[ends[partition] - counts[partition] : ends[partition]]
