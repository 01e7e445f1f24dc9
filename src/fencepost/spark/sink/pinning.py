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
from pyspark.sql import DataFrame, SparkSession

from fencepost.client.values import ProducerIdentity
from fencepost.errors import invariant
from fencepost.spark.sink.encode import ENCODED_DDL, ENCODED_SCHEMA, OVERFLOW, Encoder
from fencepost.spark.sink.errors import InvalidRow, PublishFailed, RefusedSetup
from fencepost.spark.sink.fail_points import fail_point
from fencepost.spark.sink.pin_files import BatchFiles
from fencepost.spark.sink.publish import PinnedBatch, Publisher
from fencepost.spark.sink.publish_task import PUBLISHED_DDL, PublishTask
from fencepost.types import Buffer, TopicPartition

SHUFFLE_SETTINGS = {
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "notice that a repeated task has shuffled other rows",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": (
        "repeat all that has read the rows of a task when its repetition has shuffled others"
    ),
}
"""Without these, what localCheckpoint keeps may come from two attempts of a task."""


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
    _check_shuffle(rows.sparkSession)
    encoded = rows.mapInArrow(encoder, ENCODED_DDL)
    # Every output partition lies in one slot, so one task has all of its batches, in the order of tasks and rows.
    frame = (
        encoded.repartitionById(encoder.slot_count, "slot")
        .sortWithinPartitions("topic", "partition", "task", "place")
        .localCheckpoint(eager=True)
    )
    try:
        columns = ("topic", "partition", "task", "place", "before", "records", "size", "problem")
        listed = frame.select(*columns).toArrow()
        _check(listed)
        check_complete(listed)
        return ExecutorsPinned(frame, _manifest(listed))
    except BaseException:
        frame.unpersist()
        raise


def _check_shuffle(session: SparkSession) -> None:
    """Every time: a session's settings may change between micro-batches."""
    for setting, what in SHUFFLE_SETTINGS.items():
        found = session.conf.get(setting)
        if found is None or found.strip().lower() != "true":
            raise RefusedSetup(
                f"{setting}={found}: Spark does not {what}. Executors mode needs true, which is Spark's default: a "
                "task that runs again after an executor was lost may deal its rows to other partitions, and rows would "
                "be lost and doubled. Leave the setting as Spark has it, or use mode='driver'"
            )


def check_complete(listed: pa.Table) -> None:
    """Raises `PublishFailed` unless the batches of each task follow each other: all are there, and of one attempt.

    Attempts that encode alike are alike here, too. Those that deal rows otherwise have other counts.
    """
    names = ("task", "place", "before", "records")
    expected_task, expected = -1, (1, 0)
    for task, place, before, records in sorted(zip(*(listed.column(name).to_pylist() for name in names), strict=True)):
        if task != expected_task:
            expected_task, expected = task, (1, 0)
        if (place, before) != expected:
            raise PublishFailed(
                f"after the shuffle, task {task} has record batch {place}, after {before} records, where batch "
                f"{expected[0]}, after {expected[1]} records, was expected: what two attempts of it encoded is mixed"
            )
        expected = (place + 1, before + records)


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
