"""Publishing on executors: a task for each slot of output partitions, over blocks that no job computes again (step 4).

A second attempt of a task is refused: the first may have published already, and a partition must have one publisher
in an epoch. The driver then aborts and tries again under the next epoch. A failure is an answer, not an exception, so
that Spark does not try it again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
from pyspark import TaskContext

from fencepost.client.exceptions import ClientError
from fencepost.client.values import ProducerIdentity
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink.errors import PublishFailed
from fencepost.spark.sink.fail_points import fail_point
from fencepost.spark.sink.publish import PinnedBatch, Publisher
from fencepost.types import TopicPartition

PUBLISHED_SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("records", pa.int64()),
        pa.field("problem", pa.string()),
    ]
)
PUBLISHED_DDL = "topic string, partition int, records long, problem string"


@dataclass(frozen=True)
class PublishTask:
    """What `mapInArrow` runs over the pinned batches."""

    options: KafkaOptions
    transactional_id: str
    identity: ProducerIdentity
    timeout_s: float

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        if context is not None and context.attemptNumber() > 0:
            raise PublishFailed(
                f"attempt {context.attemptNumber()} of publishing task {context.partitionId()} is refused: the first "
                "may have published"
            )
        publisher = _kept_publisher(self.options, self.transactional_id)
        try:
            counts = publisher.publish(self.identity, _pinned(batches), timeout_s=self.timeout_s)
        except ClientError as problem:
            yield _answer([("", 0, 0, f"{type(problem).__name__}: {problem}")])
        else:
            yield _answer([(*where, count, None) for where, count in counts.items()])
        for _ in batches:
            pass


@cache
def _kept_publisher(options: KafkaOptions, transactional_id: str) -> Publisher:
    """One for each process: its connections outlive the task."""
    return Publisher(options, transactional_id)


def _pinned(batches: Iterator[pa.RecordBatch]) -> Iterator[PinnedBatch]:
    for rows in batches:
        wheres = zip(rows.column("topic").to_pylist(), rows.column("partition").to_pylist(), strict=True)
        for where, scalar in zip(wheres, rows.column("batch"), strict=True):
            yield TopicPartition(*where), memoryview(scalar.as_buffer()).toreadonly()
            fail_point("publish-task")


def _answer(rows: list[tuple[str, int, int, str | None]]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(PUBLISHED_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PUBLISHED_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PUBLISHED_SCHEMA)
