"""Encoded record batches, computed once and pinned before any transaction is open (end of step 1).

*driver*: collected in one job; where driver and tasks share a machine, in files (`pin_files.py`). *executors*: shuffled
to one task for each output partition and kept there by `localCheckpoint`, whose blocks are never computed again: a lost
one fails the job that needs it. `auto` collects as long as the last micro-batch was small; tasks that encode more than
the driver wants say so instead, and the micro-batch is encoded again for the executors, which is safe as long as
nothing is published.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from fencepost.client.values import ProducerIdentity
from fencepost.errors import invariant
from fencepost.spark.encode import ENCODED_DDL, ENCODED_SCHEMA, OVERFLOW, Encoder
from fencepost.spark.fail_points import fail_point
from fencepost.spark.pin_files import BatchFiles
from fencepost.spark.publish import PinnedBatch, Publisher
from fencepost.spark.publish_task import PUBLISHED_DDL, PublishTask
from fencepost.spark.sink_errors import InvalidRow, PublishFailed
from fencepost.types import Buffer, TopicPartition


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

    def __init__(self, table: pa.Table, folder: str | None = None) -> None:
        self._table = table
        self._folder = folder
        self.manifest = _manifest(table)

    def publish(self, identity: ProducerIdentity, publisher: Publisher, *, timeout_s: float) -> Counter[TopicPartition]:
        return publisher.publish(identity, self._batches(), timeout_s=timeout_s)

    def release(self) -> None:
        self._table = self._table.slice(0, 0)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _batches(self) -> Iterator[PinnedBatch]:
        """In the order of tasks and of rows within them, which is the order in which they were collected."""
        columns = (self._table.column(name).to_pylist() for name in ("topic", "partition"))
        wheres = (TopicPartition(*where) for where in zip(*columns, strict=True))
        for where, batch in zip(wheres, self._collected() if self._folder is None else self._kept(), strict=True):
            yield where, batch
            fail_point("publish-task")

    def _collected(self) -> Iterator[Buffer]:
        for chunk in self._table.column("batch").chunks:
            for scalar in chunk:
                yield memoryview(scalar.as_buffer()).toreadonly()

    def _kept(self) -> Iterator[Buffer]:
        columns = (self._table.column(name).to_pylist() for name in ("file", "position", "size"))
        with BatchFiles() as files:
            for place in zip(*columns, strict=True):
                yield files.read(*place)


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
    try:
        table = rows.mapInArrow(encoder, ENCODED_DDL).toArrow()
        _check(table)
    except BaseException:
        if encoder.pin_folder is not None:
            shutil.rmtree(encoder.pin_folder, ignore_errors=True)
        raise
    return DriverPinned(table, encoder.pin_folder)


def pin_in_executors(rows: DataFrame, encoder: Encoder) -> ExecutorsPinned:
    encoded = rows.mapInArrow(encoder, ENCODED_DDL)
    # Every output partition lies in one slot, so one task has all of its batches, in the order of tasks and rows.
    frame = (
        encoded.repartitionById(encoder.slot_count, "slot")
        .sortWithinPartitions("topic", "partition", "task", "place")
        .localCheckpoint(eager=True)
    )
    try:
        listed = frame.select("topic", "partition", "records", "size", "problem").toArrow()
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
    return Manifest(records, pc.sum(table.column("size")).as_py() or 0)
