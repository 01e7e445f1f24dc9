"""How much one micro-batch takes: limits, minimum, AvailableNow."""

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows

from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.source import stream as source_stream
from tests.spark.source.broker_use import create, numbered, produce
from tests.spark.source.query import Query, values


def test_a_limit_is_shared_in_proportion_to_what_waits(broker: EmbeddedBroker) -> None:
    create(broker, "purchases", 2)
    produce(broker, "purchases", numbered("much", 90), partition=0)
    produce(broker, "purchases", numbered("little", 10), partition=1)
    query = Query(broker, startingOffsets="earliest", maxOffsetsPerTrigger="20")
    query.trigger()
    assert values(query.trigger()) == numbered("much", 18) + numbered("little", 2)
    assert sorted(values(query.drain())) == sorted(numbered("much", 90)[18:] + numbered("little", 10)[2:])


def test_no_partition_is_starved_by_a_small_limit(broker: EmbeddedBroker) -> None:
    create(broker, "purchases", 2)
    produce(broker, "purchases", numbered("much", 99), partition=0)
    produce(broker, "purchases", numbered("little", 1), partition=1)
    query = Query(broker, startingOffsets="earliest", maxOffsetsPerTrigger="2")
    query.trigger()
    assert values(query.trigger()) == [b"much-0", b"little-0"]


def test_available_now_ends_where_the_topics_ended_when_it_began(broker: EmbeddedBroker) -> None:
    first = numbered("first", 10)
    produce(broker, "purchases", first)
    query = Query(broker, startingOffsets="earliest", maxOffsetsPerTrigger="4")
    query.reader.prepareForTriggerAvailableNow()
    assert query.trigger() == []
    produce(broker, "purchases", numbered("later", 10))
    assert [len(query.trigger() or ()) for _ in range(3)] == [4, 4, 2]
    assert query.trigger() is None
    query.kill()
    query.reader.prepareForTriggerAvailableNow()
    assert values(query.drain()) == numbered("later", 10)


def test_available_now_from_the_latest_does_not_mistake_its_own_start_for_loss(broker: EmbeddedBroker) -> None:
    create(broker, "purchases")
    query = Query(broker, startingOffsets="latest")
    query.reader.prepareForTriggerAvailableNow()
    produce(broker, "purchases", numbered("between", 5))
    assert query.drain() == []


def test_a_minimum_is_waited_for_until_the_delay_is_over(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [0.0]
    monkeypatch.setattr(source_stream.time, "monotonic", lambda: now_s[0])
    produce(broker, "purchases", numbered("first", 5))
    query = Query(broker, startingOffsets="earliest", minOffsetsPerTrigger="8", maxTriggerDelay="10s")
    assert query.trigger() == []
    assert query.trigger() is None
    now_s[0] = 9.9
    assert query.trigger() is None
    now_s[0] = 10.1
    assert len(query.trigger() or ()) == 5
    produce(broker, "purchases", numbered("second", 8))
    assert len(query.trigger() or ()) == 8


def test_available_now_does_not_wait_for_a_minimum(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", numbered("first", 5))
    query = Query(broker, startingOffsets="earliest", minOffsetsPerTrigger="8")
    query.reader.prepareForTriggerAvailableNow()
    assert len(query.drain()) == 5


def test_the_latest_offset_is_reported_for_progress(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", numbered("first", 9))
    query = Query(broker, startingOffsets="earliest")
    assert query.reader.reportLatestOffset() is None
    query.trigger()
    query.trigger(ReadMaxRows(2))
    reported = query.reader.reportLatestOffset()
    assert reported is not None
    assert reported["topics"]["purchases"]["partitions"] == {"0": 9}
    assert query.last_offset["topics"]["purchases"]["partitions"] == {"0": 2}
