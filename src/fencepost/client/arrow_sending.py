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

from fencepost.client.exceptions import RecordTooLarge
from fencepost.client.metadata import TopicMetadata
from fencepost.client.settings import ProducerSettings
from fencepost.errors import ErrorCode
from fencepost.records import columnar
from fencepost.records.compression import Compression
from fencepost.settings import InvalidSetting
from fencepost.types import TopicPartition

SLICE_BYTES = 8 * 1024 * 1024
RECORD_OVERHEAD_BYTES = 8
"""Lengths and deltas of a record, less the offsets that Arrow keeps for its key and value, nearly always."""
RUN_ROWS = 8192
"""Rows without a key that stay together on one partition."""
REQUEST_OVERHEAD_BYTES = 512


class ArrowSending:
    def __init__(self, settings: ProducerSettings, topic: TopicMetadata, *, max_message_bytes: int) -> None:
        self._topic = topic
        self._settings = settings
        self._compression = Compression[settings.compression_type.upper()]
        room_bytes = settings.max_request_size - REQUEST_OVERHEAD_BYTES
        self._batch_bytes_max = max(1, min(room_bytes, max_message_bytes, settings.buffer_memory))
        self._next_run = random.randrange(max(1, topic.partition_count))

    def batches(self, table: pa.Table | pa.RecordBatch) -> Iterator[tuple[TopicPartition, bytearray]]:
        rows = table if isinstance(table, pa.Table) else pa.Table.from_batches([table])
        slice_bytes = min(SLICE_BYTES, max(1, self._settings.buffer_memory // 2))
        # A little less than whole batches, so that none of a few bytes is left over at the end of each slice.
        slice_bytes = max(slice_bytes - slice_bytes % self._batch_bytes_max, self._batch_bytes_max)
        size_bytes = rows.nbytes + RECORD_OVERHEAD_BYTES * len(rows)
        slice_rows = max(1, int(len(rows) * slice_bytes / max(1, size_bytes)))
        for start in range(0, len(rows), slice_rows):
            yield from self._slice_batches(rows.slice(start, slice_rows), start)

    def _slice_batches(self, rows: pa.Table, first_row: int) -> Iterator[tuple[TopicPartition, bytearray]]:
        partitions = self._partitions(rows, first_row)
        now_ms = time.time_ns() // 1_000_000
        for partition, part in _grouped(rows, partitions):
            try:
                batches = columnar.encode_batches(
                    part,
                    default_timestamp_ms=now_ms,
                    compression=self._compression,
                    batch_bytes_max=self._batch_bytes_max,
                )
            except columnar.RecordTooLarge as problem:
                message = f"'{self._topic.name}', rows from {first_row}, partition {partition}: {problem}"
                raise RecordTooLarge(message, error_code=ErrorCode.MESSAGE_TOO_LARGE) from problem
            for batch in batches:
                yield TopicPartition(self._topic.name, partition), batch

    def _partitions(self, rows: pa.Table, first_row: int) -> Any:
        count = self._topic.partition_count
        names = rows.schema.names
        if count == 1:
            partitions = np.zeros(len(rows), np.int32)
        elif "key" in names:
            partitions = columnar.murmur2_partitions(rows.column("key"), count)
        else:
            partitions = np.full(len(rows), -1, np.int32)
        if "partition" in names:
            given = rows.column("partition").cast(pa.int32()).fill_null(-1).to_numpy()
            partitions = np.where(given >= 0, given, partitions)
            if len(rows) and int(partitions.max()) >= count:
                raise InvalidSetting(f"'{self._topic.name}' has {count} partitions, there is no {partitions.max()}")
        homeless = np.flatnonzero(partitions < 0)
        if len(homeless):
            available = np.array(self._topic.available_partitions or sorted(self._topic.partitions), np.int32)
            runs = self._next_run + np.arange(len(homeless)) // RUN_ROWS
            self._next_run = int(runs[-1]) + 1
            partitions[homeless] = available[runs % len(available)]
        return partitions


def _grouped(rows: pa.Table, partitions: Any) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each partition, in their order."""
    if len(partitions) == 0:
        return
    first = int(partitions[0])
    if bool((partitions == first).all()):
        yield first, rows
        return
    order = np.argsort(partitions, kind="stable")
    found, starts = np.unique(partitions[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)]
    for partition, start, end in zip(found.tolist(), starts.tolist(), ends, strict=True):
        yield partition, rows.take(pa.array(order[start:end]))
