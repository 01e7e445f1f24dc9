"""A query that is stopped, told from one that fails: by what Spark says, not by a word that anybody may use."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from fencepost.spark import TransactionalSink
from fencepost.spark.sink.errors import QueryStopped, stop_told
from tests.spark.sink.by_hand import plan, unlucky
from tests.spark.sink.streams import copying_sink, drain, feed, files, numbered, rows_of

CANCELLED = "[SPARK_JOB_CANCELLED] Job 13 cancelled Query [id = e1f1, runId = 1572] was stopped SQLSTATE: XXKDA"
AWAITED = f"""An error occurred while calling o438.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:70)
Caused by: org.apache.spark.SparkException: {CANCELLED}
\tat org.apache.spark.errors.SparkCoreErrors$.sparkJobCancelled(SparkCoreErrors.scala:216)"""
SHUT_DOWN = "Job 7 cancelled because SparkContext was shut down"
INTERRUPTED = "java.lang.InterruptedException"
WAIT_S = 60.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CANCELLED, CANCELLED),
        (AWAITED, CANCELLED),
        (f"An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: {SHUT_DOWN}", SHUT_DOWN),
        (f"An error occurred while calling o284.getResult.\n: {INTERRUPTED}\n\tat a.b(c.java:1)", INTERRUPTED),
    ],
)
def test_what_spark_says_of_cancelled_jobs_is_recognised(text: str, told: str) -> None:
    assert stop_told(PySparkException(text)) == told


@pytest.mark.parametrize(
    "text",
    [
        "[USER_RAISED_EXCEPTION] the order was cancelled SQLSTATE: P0001",
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `cancelled_at` cannot be resolved",
        "An error occurred while calling o1.save.\n: java.io.FileNotFoundException: /data/cancelled/part-0",
        f"Job aborted due to stage failure\nCaused by: {INTERRUPTED}\n\tat user.Udf.call(Udf.java:3)",
    ],
)
def test_other_failures_that_use_the_word_are_failures(text: str) -> None:
    assert stop_told(PySparkException(text)) is None


def test_a_failure_that_only_uses_the_word_is_tried_again(servers: str) -> None:
    with TransactionalSink(servers, name="s", topic="out") as sink:
        sink._layout.look_up(["out"])
        lost = Py4JError("the block of table cancelled_orders is lost")
        assert sink._writer.write(unlucky(plan("t", "out", [b"v"]), lost)).retry_count == 1
    assert rows_of(servers, "out") == Counter([(b"k", b"v")])


def test_a_query_that_fails_with_the_word_says_what_failed(spark: SparkSession, servers: str, tmp_path: Path) -> None:
    feed(tmp_path / "in", numbered(0, 10))

    def failing(rows: DataFrame) -> DataFrame:
        return rows.selectExpr("key", "cast(raise_error('the order was cancelled') as string) value")

    sink = TransactionalSink(servers, name="s", topic="out", transform=failing)
    with pytest.raises(StreamingQueryException, match="the order was cancelled"):
        drain(files(spark, tmp_path / "in"), sink, tmp_path / "checkpoint")


def test_a_query_that_is_stopped_in_a_micro_batch_ends_without_failing_and_what_spark_said_is_kept(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    feed(tmp_path / "in", numbered(0, 10))
    is_running = threading.Event()
    seen: list[QueryStopped] = []

    def slow(rows: DataFrame) -> DataFrame:
        is_running.set()
        return rows.selectExpr("key", "cast(java_method('java.lang.Thread', 'sleep', 20000L) as string) value")

    with copying_sink(servers) as sink:
        sink._transform = slow

        def write(rows: DataFrame, batch_id: int) -> None:
            try:
                sink(rows, batch_id)
            except QueryStopped as stopped:
                seen.append(stopped)
                raise

        writing = files(spark, tmp_path / "in").writeStream.foreachBatch(write)
        query = writing.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        assert is_running.wait(WAIT_S)
        while not spark.sparkContext.statusTracker().getActiveJobsIds():
            pass
        query.stop()
        assert query.exception() is None
    assert [isinstance(stopped.problem, Py4JError | PySparkException) for stopped in seen] == [True]
