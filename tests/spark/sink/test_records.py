"""Which records a sink writes: nulls, sizes, headers, partitions; what it says about rows that cannot be written."""

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from fencepost.client import Admin, Consumer, TopicPartition, read_arrow
from fencepost.client.net.metadata import PartitionMetadata, TopicMetadata
from fencepost.client.producer.producer import partition_for_key
from fencepost.records.reader import read_records
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark import TransactionalSink
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink import output_topics
from fencepost.spark.sink.encode import Encoder
from fencepost.spark.sink.errors import InvalidFrame, InvalidRow, SinkError
from fencepost.spark.sink.output_topics import OutputTopic
from fencepost.types import NO_TOPIC_ID

SCHEMA = (
    "topic string, key binary, value binary, partition int, "
    "headers array<struct<key:string,value:binary>>, timestamp timestamp"
)
BYTES = st.none() | st.binary(max_size=40) | st.integers(0, 900_000)
"""A number stands for that many bytes."""
SMALL = st.none() | st.binary(max_size=40) | st.integers(0, 9_000)
HEADERS = st.none() | st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=9)), max_size=3)


@pytest.fixture
def sink(servers: str, way: str) -> Iterator[TransactionalSink]:
    with TransactionalSink(servers, name="records", mode=way) as made:
        yield made


def test_records_come_out_as_the_rows_went_in(spark: SparkSession, servers: str, sink: TransactionalSink) -> None:
    moment = datetime.datetime(2026, 11, 15, 9, 30, 0, 123000)
    rows = [
        ("mixed", b"key", b"value", None, None, moment),
        ("mixed", b"", b"", None, [("h", b"1"), ("h", None), ("", b"")], moment),
        ("mixed", None, None, 3, [], moment),
        ("mixed", b"large", b"x" * 900_000, None, None, moment),
        ("mixed", b"key", b"elsewhere", 2, None, moment),
        ("other", b"key", b"value", None, None, moment),
    ]
    assert sink.write(spark.createDataFrame(rows, SCHEMA), token="once")
    found = read_arrow(servers, "mixed", include_headers=True).to_pylist()
    assert Counter((row["key"], row["value"]) for row in found) == Counter(
        (key, value) for topic, key, value, *_ in rows if topic == "mixed"
    )
    by_value = {row["value"]: row for row in found}
    assert by_value[None]["partition"] == 3
    assert by_value[b"elsewhere"]["partition"] == 2
    assert by_value[b"value"]["partition"] == partition_for_key(b"key", 4)
    assert by_value[b""]["headers"] == [
        {"key": "h", "value": b"1"},
        {"key": "h", "value": None},
        {"key": "", "value": b""},
    ]
    assert {row["timestamp"].replace(tzinfo=None) for row in found} == {moment}
    assert read_arrow(servers, "other").num_rows == 1


def test_a_batch_frame_with_a_token_is_written_once(
    spark: SparkSession, servers: str, sink: TransactionalSink, way: str
) -> None:
    frame = spark.range(100).select(sql.col("id").cast("string").alias("value"))
    assert sink.write({"out": frame}, token="2026-11-15")
    assert not sink.write({"out": frame}, token="2026-11-15")
    with TransactionalSink(servers, name="records", mode=way) as again:
        assert not again.write({"out": frame}, token="2026-11-15")
        assert again.write([frame.withColumn("topic", sql.lit("out"))], token="2026-11-16")
    assert read_arrow(servers, "out").num_rows == 200


def test_a_batch_frame_without_a_token_says_that_it_is_at_least_once(spark: SparkSession, servers: str) -> None:
    frame = spark.range(3).select(sql.col("id").cast("string").alias("value"))
    with TransactionalSink(servers, name="careless", topic="out") as sink:
        for _ in range(2):
            with pytest.warns(UserWarning, match="at least once"):
                sink.write(frame)
    assert read_arrow(servers, "out").num_rows == 6


@pytest.mark.parametrize("compression_type", ["gzip", "snappy", "lz4", "zstd"])
def test_batches_are_compressed_as_asked(spark: SparkSession, servers: str, compression_type: str) -> None:
    with TransactionalSink(servers, name="packed", topic="out", compression_type=compression_type) as sink:
        sink.write(spark.range(1000).select(sql.col("id").cast("string").alias("value")), token="t")
    with Consumer(servers, group_id=None) as consumer:
        consumer.assign([TopicPartition("out", index) for index in range(4)])
        consumer.seek_to_beginning()
        found: list[bytes] = []
        while len(found) < 1000:
            found += [record.value for record in consumer.poll(1.0)]
    assert sorted(map(int, found)) == list(range(1000))
    with Admin(servers) as admin:
        assert admin.latest_offsets([TopicPartition("out", 0)])


ERRORS: dict[str, tuple[Callable[[DataFrame], Any], type[SinkError], str]] = {
    "no value": (lambda rows: rows.selectExpr("'out' topic", "id"), InvalidFrame, "no column 'value'"),
    "no topic": (lambda rows: rows.selectExpr("'v' value"), InvalidFrame, "no column 'topic'"),
    "a value of another type": (lambda rows: rows.selectExpr("'out' topic", "id value"), InvalidFrame, "is bigint"),
    "a key of another type": (
        lambda rows: rows.selectExpr("'out' topic", "'v' value", "id key"),
        InvalidFrame,
        "column 'key'",
    ),
    "a wide partition": (
        lambda rows: rows.selectExpr("'out' topic", "'v' value", "id partition"),
        InvalidFrame,
        "expected int",
    ),
    "headers of another type": (
        lambda rows: rows.selectExpr("'out' topic", "'v' value", "map('a', 'b') headers"),
        InvalidFrame,
        "headers",
    ),
    "not a frame": (lambda rows: "rows", InvalidFrame, "returned str"),
    "a null topic": (
        lambda rows: rows.selectExpr("cast(null as string) topic", "'v' value", "'the key' key"),
        InvalidRow,
        "b'the key' has a null topic",
    ),
    "a partition that is not there": (
        lambda rows: rows.selectExpr("'out' topic", "'v' value", "7 partition"),
        InvalidRow,
        "4 partitions, there is no 7",
    ),
    "a record that is too large": (
        lambda rows: rows.selectExpr("'out' topic", "repeat('x', 2000000) value", "'whale' key"),
        InvalidRow,
        "b'whale'",
    ),
    "a name that no topic has": (lambda rows: rows.selectExpr("'a b' topic", "'v' value"), InvalidRow, "a b"),
}


@pytest.mark.parametrize(("transform", "error", "message"), ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_written_is_explained_and_nothing_is_written(
    spark: SparkSession, servers: str, transform: Callable[[DataFrame], Any], error: type[SinkError], message: str
) -> None:
    with TransactionalSink(servers, name="wrong") as sink, pytest.raises(error, match=message):
        sink.write(transform(spark.range(2)), token="t")
    with Admin(servers) as admin:
        assert admin.describe_transaction("fencepost.default.wrong") is None, "no transaction was begun"


def test_a_topic_that_nobody_creates_is_explained(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_topics, "LOOK_UP_TIMEOUT_S", 0.5)
    with (
        EmbeddedBroker(settings={"auto.create.topics.enable": "false"}) as broker,
        TransactionalSink(broker.bootstrap_servers, name="lost", topic="nowhere") as sink,
        pytest.raises(InvalidRow, match=r"topic 'nowhere' does not exist.*auto\.create\.topics\.enable"),
    ):
        sink.write(spark.range(1).selectExpr("'v' value"), token="t")


def encode(rows: list[tuple[Any, ...]], partition_count: int) -> dict[int, list[Any]]:
    partitions = {index: PartitionMetadata(0, 0) for index in range(partition_count)}
    topic = OutputTopic(TopicMetadata("t", NO_TOPIC_ID, partitions), 1_048_588)
    encoder = Encoder(
        options=KafkaOptions("127.0.0.1:1"),
        topics={"t": topic},
        compression_type="none",
        slot_count=partition_count,
        slots={"t": 0},
    )
    headers = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    types = [pa.string(), pa.binary(), pa.binary(), headers]
    columns = list(zip(*rows, strict=True)) or [()] * 4
    arrays = [
        pa.array([_entries(value) for value in column] if kind is headers else column, kind)
        for column, kind in zip(columns, types, strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(arrays, ["topic", "key", "value", "headers"])
    half = len(rows) // 2
    found: dict[int, list[Any]] = {}
    for answer in encoder(iter([batch.slice(0, half), batch.slice(half)])):
        for row in answer.to_pylist():
            assert row["problem"] is None, row["problem"]
            records = read_records(row["batch"])
            assert row["records"] == len(records)
            assert len(row["batch"]) <= 1_048_588
            found.setdefault(row["partition"], []).extend(records)
    return found


def _bytes(drawn: int | bytes | None) -> bytes | None:
    return b"x" * drawn if isinstance(drawn, int) else drawn


def _entries(headers: list[tuple[str, bytes | None]] | None) -> list[dict[str, Any]] | None:
    return None if headers is None else [{"key": key, "value": value} for key, value in headers]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.data_too_large])
@given(st.lists(st.tuples(SMALL, BYTES, HEADERS), max_size=12), st.integers(1, 64))
def test_any_rows_become_their_records_in_order_on_the_partitions_of_their_keys(
    drawn: list[tuple[Any, ...]], partition_count: int
) -> None:
    rows = [("t", _bytes(key), _bytes(value), headers) for key, value, headers in drawn]
    found = encode(rows, partition_count)
    written = [(record.key, record.value, tuple(record.headers)) for records in found.values() for record in records]
    assert Counter(written) == Counter((key, value, tuple(headers or ())) for _, key, value, headers in rows)
    for partition, records in found.items():
        keyed = [(record.key, record.value) for record in records if record.key is not None]
        expected = [
            (key, value)
            for _, key, value, _ in rows
            if key is not None and partition_for_key(key, partition_count) == partition
        ]
        assert keyed == expected


def test_skewed_keys_fill_one_partition_in_order() -> None:
    rows = [("t", b"hot" if n % 10 else b"cold%d" % n, json.dumps(n).encode(), None) for n in range(5000)]
    found = encode(rows, 8)
    hot = partition_for_key(b"hot", 8)
    values = [int(record.value) for record in found[hot] if record.key == b"hot"]
    assert values == [n for n in range(5000) if n % 10]
