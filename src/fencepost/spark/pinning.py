"""Encoded record batches, computed once and pinned before any transaction is open (end of step 1).

*driver*: collected, in one job. *executors*: shuffled to one task for each output partition and kept there by
`localCheckpoint`, whose blocks are never computed again: a lost one fails the job that needs it. `auto` collects as
long as the last micro-batch was small; tasks that encode more than the driver wants say so instead, and the micro-
batch is encoded again for the executors, which is safe as long as nothing is published.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from fencepost.client.values import ProducerIdentity
from fencepost.errors import invariant
from fencepost.spark.encode import ENCODED_DDL, ENCODED_SCHEMA, OVERFLOW, Encoder
from fencepost.spark.fail_points import fail_point
from fencepost.spark.publish import PinnedBatch, Publisher
from fencepost.spark.publish_task import PUBLISHED_DDL, PublishTask
from fencepost.spark.sink_errors import InvalidRow, PublishFailed
from fencepost.types import TopicPartition


class Manifest(NamedTuple):
    """What was encoded: records for each output partition, and bytes of all."""

    records: Counter[TopicPartition]
    size_bytes: int

    @property
    def row_count(self) -> int:
        return self.records.total()


class Pinned(Protocol):
    mode: str
    manifest: Manifest

    def publish(self, identity: ProducerIdentity, publisher: Publisher, *, timeout_s: float) -> Counter[TopicPartition]:
        """Under this identity, from sequence 0 on; returns the acknowledged records of each partition."""

    def release(self) -> None: ...


class TooMuchForDriver(Exception):  # noqa: N818 - it is no error
    """Tasks encoded more than the driver wants to collect."""


class DriverPinned:
    mode = "driver"

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.manifest = _manifest(table)

    def publish(self, identity: ProducerIdentity, publisher: Publisher, *, timeout_s: float) -> Counter[TopicPartition]:
        return publisher.publish(identity, self._batches(), timeout_s=timeout_s)

    def release(self) -> None:
        self._table = self._table.slice(0, 0)

    def _batches(self) -> Iterator[PinnedBatch]:
        """In the order of tasks and of rows within them, which is the order in which they were collected."""
        columns = (self._table.column(name).to_pylist() for name in ("topic", "partition"))
        wheres = (TopicPartition(*where) for where in zip(*columns, strict=True))
        chunks = self._table.column("batch").chunks
        batches = (scalar.as_buffer() for chunk in chunks for scalar in chunk)
        for where, batch in zip(wheres, batches, strict=True):
            yield where, memoryview(batch)
            fail_point("publish-task")


class ExecutorsPinned:
    mode = "executors"

    def __init__(self, frame: DataFrame, manifest: Manifest) -> None:
        self._frame = frame
        self.manifest = manifest

    def publish(self, identity: ProducerIdentity, publisher: Publisher, *, timeout_s: float) -> Counter[TopicPartition]:
        task = PublishTask(publisher.options, publisher.transactional_id, identity, timeout_s)
        answers = self._frame.select("topic", "partition", "batch").mapInArrow(task, PUBLISHED_DDL).collect()
        counts: Counter[TopicPartition] = Counter()
        for answer in answers:
            if answer.problem is not None:
                raise PublishFailed(answer.problem)
            where = TopicPartition(answer.topic, answer.partition)
            invariant(where not in counts, f"{where} has one publisher")
            counts[where] = answer.records
        return counts

    def release(self) -> None:
        self._frame.unpersist()


def nothing_pinned() -> DriverPinned:
    return DriverPinned(ENCODED_SCHEMA.empty_table())


def pin_in_driver(rows: DataFrame, encoder: Encoder) -> DriverPinned:
    table = rows.mapInArrow(encoder, ENCODED_DDL).toArrow()
    _check(table)
    return DriverPinned(table)


def pin_in_executors(rows: DataFrame, encoder: Encoder) -> ExecutorsPinned:
    encoded = rows.mapInArrow(encoder, ENCODED_DDL)
    # Every output partition lies in one slot, so one task has all of its batches, in the order of tasks and rows.
    frame = (
        encoded.repartitionById(encoder.slot_count, "slot")
        .sortWithinPartitions("topic", "partition", "task", "place")
        .localCheckpoint(eager=True)
    )
    try:
        listed = frame.select("topic", "partition", "records", sql.length("batch").alias("size"), "problem").toArrow()
        _check(listed)
        return ExecutorsPinned(frame, _manifest(listed))
    except BaseException:
        frame.unpersist()
        raise


def _check(table: pa.Table) -> None:
    problems = table.column("problem")
    if problems.null_count == len(problems):
        return
    told = [problem for problem in problems.to_pylist() if problem is not None]
    if OVERFLOW in told:
        raise TooMuchForDriver
    raise InvalidRow(told[0])


def _manifest(table: pa.Table) -> Manifest:
    records: Counter[TopicPartition] = Counter()
    columns = (table.column(name).to_pylist() for name in ("topic", "partition", "records"))
    for topic, partition, count in zip(*columns, strict=True):
        records[TopicPartition(topic, partition)] += count
    sizes = table.column("size").to_pylist() if "size" in table.column_names else None
    return Manifest(records, sum(sizes) if sizes is not None else _bytes(table.column("batch")))


def _bytes(batches: pa.ChunkedArray) -> int:
    return sum(chunk.nbytes for chunk in batches.chunks)
