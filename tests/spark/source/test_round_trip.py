"""Any records come back as they were written: nulls, empty keys, headers, large values, many partitions, all codecs."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from fencepost.client import Producer
from fencepost.server.embedded import EmbeddedBroker
from tests.spark.source.broker_use import QUICK, create
from tests.spark.source.query import Query, Row, close_all

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMESTAMP_MS_MAX = 253_402_300_799_999
"""The last millisecond that Python's datetime can show."""
fresh = itertools.count()
bytes_or_none = st.none() | st.binary(max_size=40)
sizes = st.integers(0, 60) | st.sampled_from([127, 128, 16_383, 16_384, 900_000])
large = st.builds(lambda size, byte: bytes([byte]) * size, sizes, st.integers(0, 255))
headers = st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=8), bytes_or_none), max_size=4)
records = st.fixed_dictionaries(
    {
        "key": bytes_or_none,
        "value": st.none() | large,
        "headers": headers,
        "timestamp_ms": st.integers(0, TIMESTAMP_MS_MAX),
    }
)
topics = st.integers(1, 16).flatmap(
    lambda count: st.lists(st.tuples(st.integers(0, count - 1), records), max_size=25).map(lambda rows: (count, rows))
)
codecs = st.sampled_from(["none", "gzip", "snappy", "lz4", "zstd"])


@pytest.fixture(scope="module")
def shared_broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings=QUICK) as broker:
        yield broker
        close_all()


def written(broker: EmbeddedBroker, partitions: int, rows: list[tuple[int, dict]], codec: str) -> str:
    topic = f"topic-{next(fresh)}"
    create(broker, topic, partitions)
    with Producer(broker.bootstrap_servers, compression_type=codec) as producer:
        for partition, record in rows:
            producer.send(topic, partition=partition, **record)
        producer.flush()
    return topic


def expected_rows(partitions: int, rows: list[tuple[int, dict]]) -> list[tuple]:
    return [
        (partition, offset, record["key"], record["value"], record["headers"] or None, record["timestamp_ms"])
        for partition in range(partitions)
        for offset, record in enumerate(record for where, record in rows if where == partition)
    ]


def as_tuple(row: Row) -> tuple:
    shown = None if row["headers"] is None else [(header["key"], header["value"]) for header in row["headers"]]
    timestamp_ms = (row["timestamp"] - EPOCH) // timedelta(milliseconds=1)
    return row["partition"], row["offset"], row["key"], row["value"], shown, timestamp_ms


@settings(max_examples=25, deadline=None)
@given(topics, codecs, st.integers(1, 30))
def test_a_stream_gives_back_what_was_written(shared_broker: EmbeddedBroker, topic, codec: str, limit: int) -> None:
    partitions, rows = topic
    name = written(shared_broker, partitions, rows, codec)
    options = {"startingOffsets": "earliest", "includeHeaders": "true", "maxOffsetsPerTrigger": str(limit)}
    found = Query(shared_broker, name, **options).drain()
    close_all()
    assert sorted(map(as_tuple, found), key=lambda row: row[:2]) == expected_rows(partitions, rows)
    assert {row["topic"] for row in found} <= {name}


def test_spark_gives_back_what_was_written(spark: SparkSession, shared_broker: EmbeddedBroker) -> None:
    kinds = [None, b"", b"k", bytes(range(256)), b"v" * 900_000]
    rows = [
        (number % 16, {"key": kinds[number % 3], "value": value, "headers": shown, "timestamp_ms": 1000 * number + 7})
        for number, (value, shown) in enumerate(
            itertools.product(kinds, [[], [("h", None)], [("", b""), ("é", b"\xff"), ("h", b"x")]])
        )
    ]
    name = written(shared_broker, 16, rows, "zstd")
    frame = (
        spark.read.format("fencepost")
        .option("kafka.bootstrap.servers", shared_broker.bootstrap_servers)
        .option("subscribe", name)
        .option("includeHeaders", "true")
        .load()
    )
    found = frame.selectExpr("*", "unix_millis(timestamp) AS millis").orderBy("partition", "offset").collect()
    seen = [
        (
            row.partition,
            row.offset,
            row.key if row.key is None else bytes(row.key),
            row.value if row.value is None else bytes(row.value),
            row.headers and [(header.key, header.value and bytes(header.value)) for header in row.headers],
            row.millis,
        )
        for row in found
    ]
    assert seen == expected_rows(16, rows)
