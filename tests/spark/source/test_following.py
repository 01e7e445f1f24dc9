"""A stream as its topics change: growth, retention, deletion, another topic of the same name, another cluster."""

import json
import logging

import pytest

from fencepost.client import Admin
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.offsets import InvalidSourceOffset
from fencepost.spark.source.following import DataLoss, OtherCluster
from tests.spark.source.broker_use import QUICK, create, numbered, produce, recreate, trim
from tests.spark.source.query import Query, values

FIRST, SECOND = numbered("first", 10), numbered("second", 10)


def grow(broker: EmbeddedBroker, topic: str, partitions: int) -> None:
    with Admin(broker.bootstrap_servers) as admin:
        admin.create_partitions({topic: partitions})


def running_query(broker: EmbeddedBroker, **options: str) -> Query:
    """One that has read FIRST."""
    produce(broker, "purchases", FIRST)
    query = Query(broker, startingOffsets="earliest", **options)
    assert values(query.drain()) == FIRST
    return query


def test_a_killed_query_goes_on_behind_what_it_committed(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    query.kill()
    produce(broker, "purchases", SECOND)
    assert values(query.drain()) == SECOND


def test_a_micro_batch_that_is_run_again_reads_the_same_rows(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    produce(broker, "purchases", SECOND)
    first_time = query.trigger()
    produce(broker, "purchases", FIRST)
    query.kill(before_commit=True)
    assert query.trigger() == first_time
    assert values(query.drain()) == FIRST


def test_a_new_partition_is_read_from_its_beginning(broker: EmbeddedBroker) -> None:
    query = running_query(broker, maxOffsetsPerTrigger="1000")
    grow(broker, "purchases", 3)
    produce(broker, "purchases", SECOND, partition=2)
    rows = query.drain()
    assert values(rows) == SECOND
    assert {row["partition"] for row in rows} == {2}


def test_the_beginning_of_a_new_partition_is_in_the_offset_log_before_it_is_read(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    grow(broker, "purchases", 2)
    produce(broker, "purchases", SECOND, partition=1)
    assert query.trigger() == []
    assert query.last_offset["topics"]["purchases"]["partitions"] == {"0": 10, "1": 0}
    query.kill(before_commit=True)
    assert query.trigger() == []
    assert values(query.trigger()) == SECOND


def test_a_new_topic_that_fits_the_pattern_is_read_from_its_beginning(broker: EmbeddedBroker) -> None:
    produce(broker, "shop-1", FIRST)
    query = Query(broker, None, subscribePattern="shop-.*", startingOffsets="earliest")
    assert values(query.drain()) == FIRST
    produce(broker, "shop-2", SECOND)
    produce(broker, "workshop-3", FIRST)
    assert [(row["topic"], row["value"]) for row in query.drain()] == [("shop-2", value) for value in SECOND]


def test_a_pattern_passes_over_internal_topics_and_ledgers(broker: EmbeddedBroker) -> None:
    produce(broker, "__fencepost_ledger.default.shop", FIRST)
    with Admin(broker.bootstrap_servers) as admin:
        admin.alter_group_offsets("some-group", {("__fencepost_ledger.default.shop", 0): 1})
    produce(broker, "purchases", SECOND)
    query = Query(broker, None, subscribePattern=".*", startingOffsets="earliest")
    assert {row["topic"] for row in query.drain()} == {"purchases"}


def test_a_pattern_that_nothing_fits_waits_for_topics(broker: EmbeddedBroker) -> None:
    query = Query(broker, None, subscribePattern="shop-.*", startingOffsets="earliest")
    assert query.drain() == []
    produce(broker, "shop-1", FIRST)
    assert values(query.drain()) == FIRST


def test_retention_that_overtakes_the_reader_is_loss(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    produce(broker, "purchases", SECOND)
    trim(broker, "purchases", 14)
    complaint = (
        r"topic purchases, partition 0 are gone before they were read: expected offset 10, first available 14, "
        r"4 offsets are missing.*raise retention.*failOnDataLoss to false"
    )
    with pytest.raises(DataLoss, match=complaint):
        query.trigger()


def test_accepted_loss_is_a_warning_and_the_stream_goes_on(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    query = running_query(broker, failOnDataLoss="false")
    produce(broker, "purchases", SECOND)
    trim(broker, "purchases", 14)
    with caplog.at_level(logging.WARNING, "fencepost.spark"):
        assert values(query.drain()) == SECOND[4:]
    assert "expected offset 10, first available 14" in caplog.text


def test_records_that_go_away_between_planning_and_reading_are_loss(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    produce(broker, "purchases", SECOND)
    query.trigger()
    start, end = (json.loads(text) for text in query.offset_log[-2:])
    (partition,) = query.reader.partitions(start, end)
    trim(broker, "purchases", 15)
    with pytest.raises(DataLoss, match="expected offset 10, first available 15, 5 offsets are missing"):
        list(query.reader.read(partition))
    tolerant = Query(broker, failOnDataLoss="false").reader
    assert [row["value"] for batch in tolerant.read(partition) for row in batch.to_pylist()] == SECOND[5:]


def test_a_topic_that_was_created_again_is_loss_not_silence(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    recreate(broker, "purchases")
    produce(broker, "purchases", numbered("other", 30))
    with pytest.raises(DataLoss, match=r"topic purchases was deleted and created again \(its id was .*, and is "):
        query.trigger()


def test_a_topic_that_was_created_again_is_read_from_its_beginning_if_loss_is_accepted(broker: EmbeddedBroker) -> None:
    query = running_query(broker, failOnDataLoss="false")
    recreate(broker, "purchases")
    produce(broker, "purchases", SECOND)
    assert values(query.drain()) == SECOND


def test_a_topic_replaced_between_planning_and_reading_is_loss(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    produce(broker, "purchases", SECOND)
    query.trigger()
    start, end = (json.loads(text) for text in query.offset_log[-2:])
    (partition,) = query.reader.partitions(start, end)
    recreate(broker, "purchases")
    produce(broker, "purchases", numbered("other", 30))
    with pytest.raises(DataLoss, match="created again"):
        list(query.reader.read(partition))
    with pytest.raises(DataLoss, match="created again"):
        query.reader.partitions(start, end)


def test_a_deleted_topic_is_loss(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    with Admin(broker.bootstrap_servers) as admin:
        admin.delete_topics(["purchases"])
    with pytest.raises(DataLoss, match="topic purchases was deleted"):
        query.trigger()


def planned_and_deleted(broker: EmbeddedBroker, topic: str | None, **options: str) -> Query:
    """One that dies with a micro-batch of two topics planned and not committed; then one of the topics is deleted."""
    produce(broker, "purchases", FIRST)
    produce(broker, "returns", SECOND)
    query = Query(broker, topic, startingOffsets="earliest", **{"kafka.default.api.timeout.ms": "3000"}, **options)
    assert query.trigger() == []
    assert sorted(values(query.trigger())) == sorted(FIRST + SECOND)
    query.kill(before_commit=True)
    with Admin(broker.bootstrap_servers) as admin:
        admin.delete_topics(["returns"])
    return query


def test_a_topic_deleted_while_a_micro_batch_is_planned_is_loss(broker: EmbeddedBroker) -> None:
    query = planned_and_deleted(broker, "purchases,returns")
    with pytest.raises(DataLoss, match="topic returns was deleted"):
        query.trigger()


@pytest.mark.parametrize(
    ("topic", "options"), [("purchases,returns", {}), (None, {"subscribePattern": "purchases|returns"})]
)
def test_a_planned_micro_batch_is_read_without_its_deleted_topic_if_loss_is_accepted(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture, topic: str | None, options: dict[str, str]
) -> None:
    query = planned_and_deleted(broker, topic, failOnDataLoss="false", **options)
    with caplog.at_level(logging.WARNING, "fencepost.spark"):
        assert values(query.trigger()) == FIRST
    assert "topic returns was deleted" in caplog.text
    produce(broker, "purchases", SECOND)
    assert values(query.drain()) == SECOND


def test_a_planned_micro_batch_is_read_whole_though_the_options_name_one_of_its_topics_no_longer(
    broker: EmbeddedBroker,
) -> None:
    produce(broker, "purchases", FIRST)
    produce(broker, "returns", SECOND)
    query = Query(broker, "purchases,returns", startingOffsets="earliest")
    query.trigger()
    planned = query.trigger()
    query.kill(before_commit=True)
    query.restart_with(broker, "purchases")
    assert query.trigger() == planned


def test_a_topic_that_the_options_no_longer_name_is_dropped(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    produce(broker, "returns", FIRST)
    query = Query(broker, "purchases,returns", startingOffsets="earliest")
    assert len(query.drain()) == 20
    query.restart_with(broker, "purchases", startingOffsets="earliest")
    produce(broker, "purchases", SECOND)
    produce(broker, "returns", SECOND)
    assert [(row["topic"], row["value"]) for row in query.drain()] == [("purchases", value) for value in SECOND]


def test_an_old_topic_that_the_options_begin_to_name_is_read_from_what_is_there(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    produce(broker, "returns", SECOND)
    trim(broker, "returns", 3)
    query.restart_with(broker, "purchases,returns")
    assert values(query.drain()) == SECOND[3:]


def test_a_partition_that_was_added_and_trimmed_unseen_is_loss(broker: EmbeddedBroker) -> None:
    query = running_query(broker)
    grow(broker, "purchases", 2)
    produce(broker, "purchases", SECOND, partition=1)
    trim(broker, "purchases", 3, partition=1)
    with pytest.raises(DataLoss, match=r"partition 1 was added .* first available offset is 3: expected offset 0"):
        query.trigger()


def test_a_checkpoint_of_another_cluster_is_refused(broker: EmbeddedBroker) -> None:
    query = running_query(broker, failOnDataLoss="false")
    with EmbeddedBroker(settings=QUICK) as other:
        create(other, "purchases")
        query.restart_with(other, failOnDataLoss="false")
        with pytest.raises(OtherCluster, match="start with a new checkpoint"):
            query.trigger()
        query.kill()


def test_a_checkpoint_of_sparks_own_kafka_source_can_be_continued(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST + SECOND)
    query = Query(broker)
    query.offset_log, query.commit_count = ['{"purchases":{"0":10}}'], 1
    assert values(query.drain()) == SECOND


def test_a_checkpoint_of_another_source_is_refused(broker: EmbeddedBroker) -> None:
    create(broker, "purchases")
    query = Query(broker)
    query.offset_log, query.commit_count = ['{"logOffset": 3}'], 1
    with pytest.raises(InvalidSourceOffset, match="no offset of this source"):
        query.trigger()
