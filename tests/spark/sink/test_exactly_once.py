"""One micro-batch is one transaction: everything of it is visible, or nothing is, and it happens once."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from fencepost.client import Admin
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark import SinkEvent, TransactionalSink
from fencepost.spark.sink import fail_points
from fencepost.spark.sink import transactional_sink as sink_module
from fencepost.spark.sink.transaction import Transaction
from tests.spark.sink.streams import (
    copying_sink,
    drain,
    feed,
    files,
    fill,
    lag,
    numbered,
    rows_of,
    source,
    values_by_partition,
)

INPUT = numbered(0, 3000)
TOPICS = ("in", "out", "left", "right", "odd")


@pytest.fixture
def cluster(cluster: str) -> str:
    """With topics of four partitions: the worker's Kafka makes topics of one by itself."""
    with Admin(cluster) as admin:
        for topic in TOPICS:
            admin.create_topic(topic, 4)
    return cluster


def forget_last_commit(checkpoint: Path) -> None:
    """As if the driver had died between its commit and Spark's."""
    max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name)).unlink()


def arm(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(fail_points, "_armed", fail_points._parse(text))
    monkeypatch.setattr(fail_points, "_passed", {})


def test_records_source_offsets_and_token_commit_together_from_topic_to_topic(
    spark: SparkSession, cluster: str, tmp_path: Path
) -> None:
    fill(cluster, "in", INPUT)
    events: list[SinkEvent] = []
    sink = copying_sink(cluster, on_event=events.append)
    drain(source(spark, cluster, "in", maxOffsetsPerTrigger=1000), sink, tmp_path / "checkpoint")
    assert values_by_partition(cluster, "out") == values_by_partition(cluster, "in"), "in order, where keys belong"
    assert lag(cluster, "fencepost.default.copy", "in") == 0
    assert sum(event.row_count for event in events) == len(INPUT)
    assert len(events) >= 3
    fill(cluster, "in", numbered(3000, 3300))
    drain(source(spark, cluster, "in"), copying_sink(cluster), tmp_path / "checkpoint")
    assert values_by_partition(cluster, "out") == values_by_partition(cluster, "in")


def test_a_second_start_goes_on_where_the_first_one_stopped_and_repeats_nothing(
    spark: SparkSession, cluster: str, tmp_path: Path, mode: str
) -> None:
    feed(tmp_path / "in", INPUT)
    drain(files(spark, tmp_path / "in"), copying_sink(cluster, mode=mode), tmp_path / "checkpoint")
    forget_last_commit(tmp_path / "checkpoint")
    feed(tmp_path / "in", numbered(3000, 3300))
    events: list[SinkEvent] = []
    sink = copying_sink(cluster, mode=mode, on_event=events.append)
    drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")
    assert [(event.is_skipped, event.row_count) for event in events] == [(True, 0), (False, 300)]
    assert {event.mode for event in events} == {mode}
    assert rows_of(cluster, "out") == Counter(numbered(0, 3300))


def test_a_stateless_query_does_not_compute_what_the_ledger_has(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    feed(tmp_path / "in", INPUT)
    drain(files(spark, tmp_path / "in"), copying_sink(servers), tmp_path / "checkpoint")
    forget_last_commit(tmp_path / "checkpoint")
    events: list[SinkEvent] = []
    sink = copying_sink(servers, on_event=events.append, is_stateful=False)
    drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")
    assert [(event.is_skipped, event.encode_ms) for event in events] == [(True, 0.0)]


def test_an_empty_micro_batch_writes_its_token(spark: SparkSession, cluster: str, tmp_path: Path, mode: str) -> None:
    feed(tmp_path / "in", numbered(0, 10))
    events: list[SinkEvent] = []
    sink = TransactionalSink(
        cluster,
        name="nothing",
        topic="out",
        mode=mode,
        transform=lambda rows: rows.where("value is null"),
        on_event=events.append,
    )
    drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")
    assert [(event.row_count, event.is_skipped) for event in events] == [(0, False)]
    assert rows_of(cluster, "__fencepost_ledger.default.nothing").total() == 1


def test_several_frames_share_a_transaction_and_the_source_is_read_once(
    spark: SparkSession, cluster: str, tmp_path: Path, way: str
) -> None:
    feed(tmp_path / "in", INPUT)
    read = spark.sparkContext.accumulator(0)

    def counted(batches):
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    def split(rows: DataFrame) -> dict[str, DataFrame]:
        marked = rows.withColumn("value", sql.concat("value", sql.lit("|"), sql.expr("uuid()")))
        return {"left": marked, "right": marked.select("value"), "odd": marked.where("value like '%1|%'")}

    stream = files(spark, tmp_path / "in").mapInArrow(counted, "key string, value string")
    sink = TransactionalSink(cluster, name="split", transform=split, mode=way)
    drain(stream, sink, tmp_path / "checkpoint")
    assert read.value == len(INPUT)
    left, right, odd = (Counter(value for _, value in rows_of(cluster, topic)) for topic in ("left", "right", "odd"))
    assert left == right, "a random value is the same in all outputs of a row"
    assert Counter(value.split(b"|")[0] for value in left) == Counter(value for _, value in INPUT)
    assert odd <= left
    assert odd.total() == 300


def test_what_was_aborted_is_invisible_and_the_same_records_are_sent_again(
    spark: SparkSession, cluster: str, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm(monkeypatch, "token-sent=raise")
    feed(tmp_path / "in", INPUT)
    events: list[SinkEvent] = []
    sink = TransactionalSink(
        cluster,
        name="again",
        topic="out",
        mode=way,
        transform=lambda rows: rows.withColumn("value", sql.expr("uuid()")),
        on_event=events.append,
    )
    drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")
    assert [event.retry_count for event in events] == [1]
    visible = rows_of(cluster, "out")
    assert visible.total() == len(INPUT)
    dirty = rows_of(cluster, "out", isolation_level="read_uncommitted")
    assert dirty == visible + visible, "a retry sends the same records under the next epoch"


def test_a_commit_whose_answer_is_lost_is_recognised(
    spark: SparkSession, cluster: str, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm(monkeypatch, "after-commit=raise")
    feed(tmp_path / "in", INPUT)
    events: list[SinkEvent] = []
    sink = copying_sink(cluster, mode=mode, on_event=events.append)
    drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")
    assert [(event.retry_count, event.is_skipped) for event in events] == [(1, True)]
    assert rows_of(cluster, "out", isolation_level="read_uncommitted") == Counter(INPUT)


def test_auto_goes_to_the_executors_when_it_is_too_much_for_the_driver_and_comes_back(
    spark: SparkSession, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[SinkEvent] = []
    rows = spark.range(0, 5000, numPartitions=2).selectExpr("cast(id as string) value")
    with TransactionalSink(servers, name="auto", topic="out", on_event=events.append) as sink:
        monkeypatch.setattr(sink_module, "DRIVER_BYTES_MAX", 1000)
        monkeypatch.setattr(sink_module, "TASK_BYTES_MIN", 100)
        sink.write(rows, token="all")
        sink.write(rows.limit(3), token="few")
        sink.write(rows.limit(3), token="few again")
    assert [event.mode for event in events] == ["executors", "executors", "driver"]
    assert [event.row_count for event in events] == [5000, 3, 3]
    assert rows_of(servers, "out").total() == 5006


def test_the_classic_flow_of_transactions_is_served_too(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    with EmbeddedBroker(settings={"num.partitions": "4", "transaction.version": "1"}) as broker:
        servers = broker.bootstrap_servers
        for part in range(3):
            feed(tmp_path / "in", numbered(500 * part, 500 * (part + 1)))
        sink = copying_sink(servers, mode=mode)
        drain(files(spark, tmp_path / "in", maxFilesPerTrigger=1), sink, tmp_path / "checkpoint")
        assert rows_of(servers, "out") == Counter(numbered(0, 1500))


def test_a_transaction_that_timed_out_is_tried_again_with_more_time(
    spark: SparkSession, tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm(monkeypatch, "before-offsets=stop:4")
    lengthened: list[int] = []
    lengthen = Transaction.lengthen

    def noted(self: Transaction, timeout_ms_max: int) -> bool:
        has_room = lengthen(self, timeout_ms_max)
        lengthened.append(self.timeout_ms)
        return has_room

    monkeypatch.setattr(Transaction, "lengthen", noted)
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "50"}
    with EmbeddedBroker(settings=settings) as broker:
        feed(tmp_path / "in", INPUT)
        events: list[SinkEvent] = []
        sink = copying_sink(broker.bootstrap_servers, mode=mode, transaction_timeout_ms=2000, on_event=events.append)
        drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")
        assert events[0].retry_count >= 1
        assert lengthened[0] == 4000
        assert rows_of(broker.bootstrap_servers, "out") == Counter(INPUT)


def test_a_stateful_query_runs_its_plan_though_the_ledger_has_its_micro_batch(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    def counting() -> DataFrame:
        counts = files(spark, tmp_path / "in").groupBy("key").count()
        return counts.select("key", sql.col("count").cast("string").alias("value"))

    feed(tmp_path / "in", numbered(0, 170))
    sink = TransactionalSink(servers, name="counts", topic="counts")
    drain(counting(), sink, tmp_path / "checkpoint", output_mode="update")
    forget_last_commit(tmp_path / "checkpoint")
    feed(tmp_path / "in", numbered(0, 170))
    events: list[SinkEvent] = []
    sink = TransactionalSink(servers, name="counts", topic="counts", on_event=events.append)
    drain(counting(), sink, tmp_path / "checkpoint", output_mode="update")
    assert [event.is_skipped for event in events] == [True, False]
    expected = [(b"k%d" % n, count) for n in range(17) for count in (b"10", b"20")]
    assert rows_of(servers, "counts") == Counter(expected), "the state of the first run was not lost"


def test_source_offsets_of_another_cluster_stay_in_the_ledger(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    with EmbeddedBroker(settings={"num.partitions": "2"}) as other:
        fill(other.bootstrap_servers, "in", INPUT)
        for _ in range(2):
            drain(source(spark, other.bootstrap_servers, "in"), copying_sink(servers), tmp_path / "checkpoint")
        assert rows_of(servers, "out") == Counter(INPUT)
        with Admin(servers) as admin:
            assert admin.group_offsets("fencepost.default.copy") == {}
        (token,) = {
            value for _, value in rows_of(servers, "__fencepost_ledger.default.copy") if b'"batch_id":1' in value
        }
        assert b'"topics":{"in"' in token
