"""Rows to record batches, in tasks: Arrow in, Arrow out, one row for each record batch (step 1).

Batches carry no producer yet: id, epoch and sequence are stamped when they are published. Rows of a task keep their
order within each output partition. A row that cannot be written is not an exception, which Spark would retry and
bury, but a row of the answer that says what is wrong; nothing is published then.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from fencepost.client.exceptions import RecordTooLarge
from fencepost.client.producer.arrow_sending import ArrowSending
from fencepost.client.settings import ProducerSettings
from fencepost.records.columnar.arrow import UnsupportedColumn
from fencepost.records.header import read_header
from fencepost.settings import InvalidSetting
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink.errors import InvalidRow
from fencepost.spark.sink.fail_points import fail_point
from fencepost.spark.sink.output_topics import OutputTopic, look_up_in_task
from fencepost.spark.sink.pin_files import BatchFile
from fencepost.types import TopicPartition

GATHER_BYTES = 8 * 1024 * 1024
"""Rows are gathered up to this, so that many output partitions still get batches of a good size."""
REQUEST_ROOM_BYTES = 2**30

ENCODED_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("slot", pa.int32()),
        pa.field("task", pa.int32()),
        pa.field("place", pa.int32()),
        pa.field("before", pa.int64()),
        pa.field("records", pa.int32()),
        pa.field("size", pa.int32()),
        pa.field("batch", pa.binary()),
        pa.field("file", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("problem", pa.string()),
    ]
)
ENCODED_DDL = (
    "topic string, partition int, slot int, task int, place int, before bigint, records int, size int, batch binary, "
    "file string, position bigint, problem string"
)
OVERFLOW = "overflow"
"""The problem of a task that encoded more than the driver wants to collect."""


@dataclass(frozen=True)
class Encoder:
    """What `mapInArrow` runs. Pickled by reference to this module; its `repr` shows no secret."""

    options: KafkaOptions
    topics: dict[str, OutputTopic]
    compression_type: str
    slot_count: int
    slots: dict[str, int]
    """The number of each topic's first partition among all output partitions."""
    topic: str | None = None
    """Where all rows go; None if their column `topic` says it."""
    task_bytes_max: int | None = None
    pin_folder: str | None = None
    """Where batches are left in files, if the driver can read them there; otherwise the answer has them."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        with nullcontext() if self.pin_folder is None else BatchFile(self.pin_folder) as file:
            try:
                yield from _Task(self, number, file).run(batches)
            except (InvalidRow, InvalidSetting, UnsupportedColumn, RecordTooLarge) as problem:
                yield _answer([_row(task=number, problem=str(problem))])
        # The rest is read even so: a worker that leaves input behind is not used again.
        for _ in batches:
            pass


class _Task:
    def __init__(self, encoder: Encoder, number: int, file: BatchFile | None) -> None:
        self._encoder = encoder
        self._number = number
        self._file = file
        self._place = 0
        self._record_count = 0
        self._size_bytes = 0
        self._sendings: dict[str, ArrowSending] = {}
        self._settings = ProducerSettings(
            compression_type=encoder.compression_type,
            max_request_size=REQUEST_ROOM_BYTES,
            buffer_memory=REQUEST_ROOM_BYTES,
        )

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in _gathered(batches):
            answer = _answer([self._encoded(where, batch) for where, batch in self._batches(rows)])
            if self._file is not None:
                self._file.flush()
            yield answer
            fail_point("encode-task")
            limit = self._encoder.task_bytes_max
            if limit is not None and self._size_bytes > limit:
                yield _answer([_row(task=self._number, problem=OVERFLOW)])
                return

    def _batches(self, rows: pa.Table) -> Iterator[tuple[TopicPartition, memoryview]]:
        if self._encoder.topic is not None:
            return self._sending(self._encoder.topic).batches(rows)
        names = rows.column("topic")
        if names.null_count:
            key = rows.filter(pc.is_null(names)).column("key")[0].as_py()
            raise InvalidRow(f"a row with key {key!r} has a null topic: filter such rows out, or give them one")
        found = pc.unique(names).to_pylist()
        values = rows.drop_columns(["topic"])
        return chain.from_iterable(
            self._sending(name).batches(values if len(found) == 1 else values.filter(pc.equal(names, name)))
            for name in found
        )

    def _sending(self, name: str) -> ArrowSending:
        if name not in self._sendings:
            topic = self._encoder.topics.get(name) or look_up_in_task(self._encoder.options, name)
            self._sendings[name] = ArrowSending(
                self._settings, topic.metadata, max_message_bytes=topic.max_message_bytes, is_sealed=True
            )
        return self._sendings[name]

    def _encoded(self, where: TopicPartition, batch: memoryview) -> dict[str, Any]:
        record_count = read_header(batch).record_count
        self._size_bytes += len(batch)
        self._place += 1
        self._record_count += record_count
        first = self._encoder.slots.get(where.topic, len(where.topic))
        where_kept = (
            {"batch": batch} if self._file is None else {"file": self._file.path, "position": self._file.append(batch)}
        )
        return _row(
            topic=where.topic,
            partition=where.partition,
            slot=(first + where.partition) % self._encoder.slot_count,
            task=self._number,
            place=self._place,
            before=self._record_count - record_count,
            records=record_count,
            size=len(batch),
            **where_kept,
        )


def _row(**fields: Any) -> dict[str, Any]:
    return dict.fromkeys(ENCODED_SCHEMA.names) | {"slot": 0, "place": 0} | fields


def _answer(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    columns = {field.name: [row[field.name] for row in rows] for field in ENCODED_SCHEMA}
    arrays = [
        _joined(column) if name == "batch" else pa.array(column, ENCODED_SCHEMA.field(name).type)
        for name, column in columns.items()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ENCODED_SCHEMA)


def _joined(batches: list[memoryview | None]) -> pa.Array:
    """One copy of all bytes: Arrow's own conversion of Python objects takes several."""
    parts = [batch or b"" for batch in batches]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(parts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(parts))])


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    waiting: list[pa.RecordBatch] = []
    size_bytes = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        waiting.append(batch)
        size_bytes += batch.nbytes
        if size_bytes >= GATHER_BYTES:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, size_bytes = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()
