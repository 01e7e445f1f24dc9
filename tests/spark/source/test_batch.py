"""Batch queries: ranges, splitting, columns."""

import json

import pytest

from fencepost.client import Producer
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.options import InvalidOption
from tests.spark.source.broker_use import create, numbered, produce
from tests.spark.source.query import batch_rows, source, values


def filled(broker: EmbeddedBroker, partitions: int = 2, count: int = 10) -> None:
    create(broker, "purchases", partitions)
    for partition in range(partitions):
        produce(broker, "purchases", numbered(f"p{partition}", count), partition=partition)


def offsets(**by_partition: int) -> str:
    return json.dumps({"purchases": {name.removeprefix("p"): offset for name, offset in by_partition.items()}})


def test_everything_is_read_unless_told_otherwise(broker: EmbeddedBroker) -> None:
    filled(broker)
    assert values(batch_rows(broker)) == numbered("p0", 10) + numbered("p1", 10)


def test_a_range_is_half_open(broker: EmbeddedBroker) -> None:
    filled(broker)
    bounds = {"startingOffsets": offsets(p0=3, p1=-2), "endingOffsets": offsets(p0=5, p1=-1)}
    assert values(batch_rows(broker, **bounds)) == [b"p0-3", b"p0-4", *numbered("p1", 10)]


def test_a_range_may_be_empty(broker: EmbeddedBroker) -> None:
    filled(broker)
    bounds = {"startingOffsets": offsets(p0=3, p1=10), "endingOffsets": offsets(p0=3, p1=10)}
    assert batch_rows(broker, **bounds) == []


def test_a_range_may_lie_between_two_times(broker: EmbeddedBroker) -> None:
    for timestamp_ms in range(1000, 2000, 100):
        produce(broker, "purchases", [b"%d" % timestamp_ms], timestamp_ms=timestamp_ms)
    between = batch_rows(broker, startingTimestamp="1200", endingTimestamp="1500")
    assert values(between) == [b"1200", b"1300", b"1400"]
    to_the_end = batch_rows(broker, startingTimestamp="1800", endingTimestamp="9999")
    assert values(to_the_end) == [b"1800", b"1900"]
    by_partition = batch_rows(broker, endingOffsetsByTimestamp='{"purchases": {"0": 1150}}')
    assert values(by_partition) == [b"1000", b"1100"]


def test_an_end_that_is_not_there_is_refused(broker: EmbeddedBroker) -> None:
    filled(broker)
    with pytest.raises(InvalidOption, match="purchases-0 ends at offset 10, before offset 11"):
        batch_rows(broker, endingOffsets=offsets(p0=11, p1=-1))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1),
        ({"minPartitions": "2"}, 2),
        ({"minPartitions": "8"}, 8),
        ({"maxRecordsPerPartition": "4"}, 6),
        ({"maxRecordsPerPartition": "4", "minPartitions": "10"}, 10),
    ],
)
def test_ranges_are_split_and_no_row_is_lost(broker: EmbeddedBroker, options: dict[str, str], expected: int) -> None:
    filled(broker)
    made = source(broker, **options)
    parts = made.reader(made.schema()).partitions()
    assert len(parts) == expected
    assert values(batch_rows(broker, **options)) == numbered("p0", 10) + numbered("p1", 10)


def test_partitions_may_be_assigned(broker: EmbeddedBroker) -> None:
    filled(broker, partitions=3)
    assert values(batch_rows(broker, None, assign='{"purchases": [2, 0]}')) == numbered("p0", 10) + numbered("p2", 10)


def test_a_row_has_the_columns_of_sparks_source(broker: EmbeddedBroker) -> None:
    create(broker, "purchases", 2)
    with Producer(broker.bootstrap_servers) as producer:
        headers = [("trace", b"1"), ("trace", None), ("empty", b"")]
        producer.send("purchases", key=b"k", value=b"v", partition=1, headers=headers, timestamp_ms=1_700_000_000_123)
        producer.send("purchases", value=None, partition=1, timestamp_ms=1_700_000_000_124)
        producer.flush()
    first, second = batch_rows(broker, includeHeaders="true")
    timestamp = first.pop("timestamp")
    assert timestamp.isoformat() == "2023-11-14T22:13:20.123000+00:00"
    place = {"topic": "purchases", "partition": 1, "timestampType": 0}
    shown = [{"key": "trace", "value": b"1"}, {"key": "trace", "value": None}, {"key": "empty", "value": b""}]
    assert first == {"key": b"k", "value": b"v", "offset": 0, "headers": shown, **place}
    del second["timestamp"]
    assert second == {"key": None, "value": None, "offset": 1, "headers": None, **place}
    assert "headers" not in batch_rows(broker)[0]


def test_append_time_is_told_apart(broker: EmbeddedBroker) -> None:
    create(broker, "purchases", message_timestamp_type="LogAppendTime")
    produce(broker, "purchases", [b"v"], timestamp_ms=1)
    (row,) = batch_rows(broker)
    assert row["timestampType"] == 1
    assert row["timestamp"].year >= 2024


def test_a_timestamp_that_spark_cannot_hold_is_the_latest_that_it_can(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", [b"v"], timestamp_ms=2**62)
    produce(broker, "purchases", [b"w"], timestamp_ms=1000)
    made = source(broker)
    reader = made.reader(made.schema())
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    seen = [number for batch in batches for number in batch.column("timestamp").cast("int64").to_pylist()]
    assert seen == [(2**63 - 1) // 1000 * 1000, 1_000_000]
