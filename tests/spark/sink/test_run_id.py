"""Which run of a query a token names: Spark's own, whatever jobs are grouped by."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from fencepost.spark import TransactionalSink
from tests.spark.sink.streams import copying_sink, feed, files, numbered, rows_of, run_to_end


class Grouping(TransactionalSink):
    """A user's function that groups its jobs, and then calls the sink."""

    def __init__(self, sink: TransactionalSink) -> None:
        self._sink = sink

    def __call__(self, batch_df: DataFrame, batch_id: int) -> None:
        batch_df.sparkSession.sparkContext.setJobGroup("nightly", "the same at every start")
        self._sink(batch_df, batch_id)

    def close(self) -> None:
        self._sink.close()


@pytest.mark.parametrize("is_same_object", [False, True], ids=["another sink", "the same sink"])
@pytest.mark.parametrize("is_named", [False, True], ids=["checkpoint found", "checkpoint named"])
def test_a_job_group_of_the_users_does_not_hide_that_a_query_was_started_again(
    spark: SparkSession, servers: str, tmp_path: Path, is_same_object: bool, is_named: bool
) -> None:
    checkpoint = tmp_path / "checkpoint"
    feed(tmp_path / "in", numbered(0, 10))

    def sink() -> Grouping:
        return Grouping(copying_sink(servers, checkpoint=str(checkpoint) if is_named else None))

    with sink() as first, sink() as second:
        run_to_end(files(spark, tmp_path / "in"), first, checkpoint)
        # As after a crash between the sink's commit and Spark's.
        (checkpoint / "commits" / "0").unlink()
        feed(tmp_path / "in", numbered(10, 20))
        run_to_end(files(spark, tmp_path / "in"), first if is_same_object else second, checkpoint)
    assert rows_of(servers, "out") == Counter(numbered(0, 20))
