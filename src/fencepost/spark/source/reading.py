"""A task's work: ranges of partitions, from the wire to Arrow batches with the columns of Spark's `kafka` source.

Connections and metadata are kept for the life of the worker process, which Spark uses for task after task.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from fencepost.client.consumer.arrow_range import PartitionRange, RangeReader, TopicReplaced
from fencepost.client.exceptions import OffsetOutOfRange
from fencepost.spark.options import KafkaOptions
from fencepost.spark.source.cluster import open_cluster
from fencepost.spark.source.following import LossPolicy, overtaken, truncated
from fencepost.types import OffsetRange, TopicPartition

HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
SPARK_SCHEMA = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("timestampType", IntegerType()),
    ]
)
"""Every column can be null, as in Spark's source, though most never are: plans then look the same."""
SPARK_SCHEMA_WITH_HEADERS = StructType([*SPARK_SCHEMA.fields, StructField("headers", HEADERS)])
ARROW_TIMESTAMP = pa.timestamp("us", tz="UTC")
ARROW_SCHEMA_WITH_HEADERS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", ARROW_TIMESTAMP),
        ("timestampType", pa.int32()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)
ARROW_SCHEMA = ARROW_SCHEMA_WITH_HEADERS.remove(len(ARROW_SCHEMA_WITH_HEADERS) - 1)
MICROSECONDS_MAX = 2**63 - 1
"""Timestamps are any 64 bit milliseconds in Kafka; those that Spark cannot hold become the latest that it can."""


class RangePartition(InputPartition):
    """One task's share: ranges that it reads one after the other."""

    def __init__(self, wanted: tuple[PartitionRange, ...]) -> None:
        super().__init__(wanted)


class ReadPlan(NamedTuple):
    """What all tasks of a query have in common."""

    kafka: KafkaOptions
    include_headers: bool
    policy: LossPolicy


_readers: dict[tuple[int, KafkaOptions], RangeReader] = {}
"""By process, because a fork must not share its parent's connections."""


def reader_of(kafka: KafkaOptions) -> RangeReader:
    place = (os.getpid(), kafka)
    if place not in _readers:
        _readers[place] = RangeReader(*open_cluster(kafka))
    return _readers[place]


def close_readers() -> None:
    """Close what this process keeps. A process that ends need not: its connections end with it."""
    while _readers:
        _readers.popitem()[1].close()


def read_partition(plan: ReadPlan, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """The rows of one task. Spark makes up a partition without ranges where there are none."""
    for wanted in partition.value or ():
        yield from read_range(plan, wanted)


def read_range(plan: ReadPlan, wanted: PartitionRange) -> Iterator[pa.RecordBatch]:
    position = wanted.offsets.start_offset
    while position < wanted.offsets.end_offset:
        rest = wanted._replace(offsets=OffsetRange(position, wanted.offsets.end_offset))
        try:
            for records in reader_of(plan.kafka).read(rest, include_headers=plan.include_headers):
                position = records.column("offset")[-1].as_py() + 1
                yield to_spark(records, wanted.topic_partition, include_headers=plan.include_headers)
            return
        except OffsetOutOfRange as problem:
            left = wanted._replace(offsets=OffsetRange(position, wanted.offsets.end_offset))
            position = _behind_loss(plan, problem, left)


def to_spark(records: pa.RecordBatch, topic_partition: TopicPartition, *, include_headers: bool) -> pa.RecordBatch:
    count = records.num_rows
    key, value, offset, timestamp, timestamp_type, *headers = records.columns
    schema = ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA
    columns = [
        key,
        value,
        pa.repeat(pa.scalar(topic_partition.topic, pa.string()), count),
        pa.repeat(pa.scalar(topic_partition.partition, pa.int32()), count),
        offset,
        _microseconds(timestamp),
        timestamp_type,
        *(column.cast(schema.field("headers").type) for column in headers),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _microseconds(timestamps: pa.Array) -> pa.Array:
    try:
        return timestamps.cast(ARROW_TIMESTAMP)
    except pa.ArrowInvalid:
        most_ms = MICROSECONDS_MAX // 1000
        milliseconds = timestamps.view(pa.int64()).to_numpy()
        return pa.array(np.clip(milliseconds, -most_ms, most_ms) * 1000).view(ARROW_TIMESTAMP)


def _behind_loss(plan: ReadPlan, problem: OffsetOutOfRange, left: PartitionRange) -> int:
    """Where to read on after records went away between planning and reading; an error unless loss is accepted."""
    topic_partition, (expected, end_offset) = left.topic_partition, left.offsets
    if isinstance(problem, TopicReplaced):
        plan.policy.report(str(problem))
        return end_offset
    available = reader_of(plan.kafka).earliest(topic_partition)
    if available > expected:
        plan.policy.report(overtaken(topic_partition, expected=expected, available=available))
        return available
    plan.policy.report(truncated(topic_partition, expected=end_offset, available=expected))
    return end_offset
