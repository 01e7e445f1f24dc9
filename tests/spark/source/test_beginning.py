"""Where queries begin, and that a restart begins at the same record."""

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.options import InvalidOption
from fencepost.spark.source.cluster import UnknownTopic
from fencepost.spark.source.following import DataLoss
from tests.spark.source.broker_use import create, numbered, produce, trim
from tests.spark.source.query import Query, values

FIRST, SECOND = numbered("first", 10), numbered("second", 10)


def test_a_stream_begins_at_the_end_unless_told_otherwise(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = Query(broker)
    assert query.drain() == []
    produce(broker, "purchases", SECOND)
    assert values(query.drain()) == SECOND


def test_a_stream_from_the_earliest_reads_everything(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    assert values(Query(broker, startingOffsets="earliest").drain()) == FIRST


def test_micro_batch_0_is_empty_and_pins_the_start(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = Query(broker, startingOffsets="earliest")
    assert query.trigger() == []
    assert query.last_offset["topics"]["purchases"]["partitions"] == {"0": 0}
    assert values(query.trigger()) == FIRST


def test_the_start_is_resolved_once_however_often_it_is_asked_for(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = Query(broker)
    first = query.reader.initialOffset()
    produce(broker, "purchases", SECOND)
    assert query.reader.initialOffset() == first
    assert values(query.drain()) == SECOND


def test_a_crash_in_micro_batch_0_does_not_move_the_start(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = Query(broker, startingOffsets="latest")
    assert query.trigger() == []
    query.kill(before_commit=True)
    produce(broker, "purchases", SECOND)
    assert query.trigger() == []
    assert values(query.drain()) == SECOND


def test_after_a_crash_in_micro_batch_0_available_now_still_reads(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = Query(broker, startingOffsets="earliest")
    query.trigger()
    query.kill(before_commit=True)
    query.reader.prepareForTriggerAvailableNow()
    assert values(query.drain()) == FIRST


def test_trigger_once_reads_in_its_only_micro_batch(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = Query(broker, startingOffsets="earliest", maxOffsetsPerTrigger="3")
    assert values(query.trigger(ReadAllAvailable())) == FIRST


def test_offsets_are_given_for_each_partition(broker: EmbeddedBroker) -> None:
    create(broker, "purchases", 3)
    for partition in range(3):
        produce(broker, "purchases", numbered(f"p{partition}", 5), partition=partition)
    query = Query(broker, startingOffsets='{"purchases": {"0": 3, "1": -2, "2": -1}}')
    assert values(query.drain()) == [b"p0-3", b"p0-4", *numbered("p1", 5)]


@pytest.mark.parametrize(
    ("offsets", "complaint"),
    [
        ('{"purchases": {"0": 1}}', "missing: purchases-1; not read: none"),
        ('{"purchases": {"0": 1, "1": 1, "2": 1}}', "missing: none; not read: purchases-2"),
        ('{"invoices": {"0": 1}}', "missing: purchases-0, purchases-1; not read: invoices-0"),
    ],
)
def test_offsets_have_to_name_exactly_what_is_read(broker: EmbeddedBroker, offsets: str, complaint: str) -> None:
    create(broker, "purchases", 2)
    with pytest.raises(InvalidOption, match=complaint):
        Query(broker, startingOffsets=offsets).drain()


def test_an_offset_that_is_gone_is_loss_and_says_so(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    trim(broker, "purchases", 4)
    with pytest.raises(DataLoss, match=r"purchases, partition 0 .* expected offset 2, first available 4, 2 offsets"):
        Query(broker, startingOffsets='{"purchases": {"0": 2}}').drain()
    with pytest.raises(DataLoss, match="ends at offset 10, but records up to offset 11"):
        Query(broker, startingOffsets='{"purchases": {"0": 11}}').drain()
    accepted = Query(broker, startingOffsets='{"purchases": {"0": 2}}', failOnDataLoss="false")
    assert values(accepted.drain()) == FIRST[4:]


def test_a_stream_may_begin_at_a_time(broker: EmbeddedBroker) -> None:
    for timestamp_ms in range(1000, 2000, 100):
        produce(broker, "purchases", [b"%d" % timestamp_ms], timestamp_ms=timestamp_ms)
    assert values(Query(broker, startingTimestamp="1750").drain()) == [b"1800", b"1900"]
    by_partition = Query(broker, startingOffsetsByTimestamp='{"purchases": {"0": 1800}}')
    assert values(by_partition.drain()) == [b"1800", b"1900"]


def test_a_time_for_all_goes_before_times_for_each_and_those_before_offsets(broker: EmbeddedBroker) -> None:
    for timestamp_ms in (1000, 2000, 3000):
        produce(broker, "purchases", [b"%d" % timestamp_ms], timestamp_ms=timestamp_ms)
    each, offsets = '{"purchases": {"0": 2000}}', "earliest"
    both = Query(broker, startingOffsetsByTimestamp=each, startingOffsets=offsets)
    assert values(both.drain()) == [b"2000", b"3000"]
    all_three = Query(broker, startingTimestamp="3000", startingOffsetsByTimestamp=each, startingOffsets=offsets)
    assert values(all_three.drain()) == [b"3000"]


def test_a_time_after_the_last_record_is_an_error_or_the_end(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST, timestamp_ms=1000)
    with pytest.raises(InvalidOption, match=r"nothing was written at or after .* purchases-0.*Strategy to latest"):
        Query(broker, startingTimestamp="2000").drain()
    query = Query(broker, startingTimestamp="2000", startingOffsetsByTimestampStrategy="latest")
    assert query.drain() == []
    produce(broker, "purchases", SECOND, timestamp_ms=1500)
    assert values(query.drain()) == SECOND


def test_a_topic_that_does_not_exist_is_named_and_not_created(broker: EmbeddedBroker) -> None:
    with pytest.raises(UnknownTopic, match="topic 'purchases' does not exist: create it first"):
        Query(broker).drain()
    with pytest.raises(UnknownTopic, match="topic 'purchases' does not exist"):
        Query(broker).drain()


def test_an_assigned_partition_that_does_not_exist_is_named(broker: EmbeddedBroker) -> None:
    create(broker, "purchases", 2)
    with pytest.raises(UnknownTopic, match="topic purchases has no partition 2"):
        Query(broker, None, assign='{"purchases": [0, 2]}').drain()
