"""What is read from a pipeline's plan: whether it keeps state, and what cannot run on a stream."""

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as f

from fencepost.pipelines.pipeline import InvalidPipeline, pipeline
from fencepost.pipelines.stage import check_outputs, one_frame
from fencepost.pipelines.state import probe, shape_of
from tests.spark.pipelines.use import example


def of(function, *, reads="a", writes="b", **options):
    return pipeline(name="p", reads=reads, writes=writes, **options)(function)


def refused(spark, made):
    with pytest.raises(InvalidPipeline) as told:
        shape_of(spark, made)
    return str(told.value)


@pytest.mark.parametrize("name", ["shop", "squares", "transfer"])
def test_the_documents_pipelines_keep_no_state(spark, name):
    assert not shape_of(spark, example(name)[0]).is_stateful


STATEFUL = {
    "aggregation": lambda a: {"b": a.groupBy("key").count().selectExpr("key", "cast(count as string) as value")},
    "distinct": lambda a: {"b": a.select("key", "value").distinct()},
    "deduplication": lambda a: {"b": a.dropDuplicates(["key"]).select("key", "value")},
    "limit": lambda a: {"b": a.limit(5).select("key", "value")},
}


@pytest.mark.parametrize("kind", STATEFUL)
def test_what_would_see_one_micro_batch_only_is_known_as_stateful(spark, kind):
    assert shape_of(spark, of(STATEFUL[kind], output_mode="update" if kind == "aggregation" else "append")).is_stateful


def test_a_join_of_two_inputs_is_stateful_and_one_with_a_table_is_not(spark):
    table = spark.createDataFrame([(b"k", "red")], "key binary, colour string")
    joined = of(
        lambda a: {"b": a.join(table.groupBy("key", "colour").count(), "key").selectExpr("key", "colour as value")}
    )
    assert not shape_of(spark, joined).is_stateful
    both = of(lambda a, c: {"b": a.join(c.select("key"), "key").select("key", "value")}, reads=["a", "c"])
    assert shape_of(spark, both).operators == ("Join",)


def test_a_union_of_two_inputs_keeps_no_state(spark):
    assert not shape_of(spark, of(lambda a, c: {"b": a.union(c).select("key", "value")}, reads=["a", "c"])).is_stateful


def test_outputs_that_share_a_stateful_parent_are_refused_and_one_frame_with_topics_is_not(spark):
    def counts(a):
        return a.groupBy("key").count().selectExpr("key", "cast(count as string) as value", "count")

    apart = of(
        lambda a: {"b": (c := counts(a)).where("count > 1").drop("count"), "c": c.where("count < 2").drop("count")},
        writes=["b", "c"],
        output_mode="update",
    )
    assert "'b', 'c' share a stateful parent (Aggregate)" in refused(spark, apart)
    together = of(
        lambda a: counts(a).selectExpr("if(count > 1, 'b', 'c') as topic", "key", "value"),
        writes=["b", "c"],
        output_mode="update",
    )
    assert shape_of(spark, together).is_stateful


def test_a_stateful_output_beside_a_stateless_one_is_fine(spark):
    (balances,) = [one for one in example("balances") if one.name == "balances"]
    assert shape_of(spark, balances).operators == ("Aggregate",)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: {"b": a.orderBy("key").select("key", "value")}, "Sorting is not supported"),
        (
            lambda a: {
                "b": a.select(
                    "key",
                    f.row_number().over(Window.partitionBy("key").orderBy("offset")).cast("string").alias("value"),
                )
            },
            "NON_TIME_WINDOW_NOT_SUPPORTED",
        ),
        (
            lambda a: {
                "b": a.groupBy("key").applyInPandas(lambda rows: rows[["key", "value"]], "key binary, value binary")
            },
            "would see the rows of one micro-batch only",
        ),
        (
            lambda a: {"b": a.groupBy("key").count().selectExpr("key", "cast(count as string) as value")},
            "STREAMING_OUTPUT_MODE",
        ),
        (lambda a: {"b": a.selectExpr("key", "nowhere as value")}, "UNRESOLVED_COLUMN"),
        (lambda a: {"b": a.limit(a.count())}, "may only build DataFrames"),
        (
            lambda a: {"b": a.sparkSession.range(3).selectExpr("cast(id as string) as value")},
            "does not come from its inputs",
        ),
    ],
)
def test_what_cannot_run_on_a_stream_is_refused_before_it_runs(spark, function, message):
    assert message in refused(spark, of(function))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["key"], "no 'value' column"),
        (["value", "offset"], "column 'offset' is no part of a record"),
        (["cast(offset as int) as value"], "column 'value' is int; expected binary or string"),
        (["value", "cast(offset as bigint) as partition"], "column 'partition' is bigint; expected int"),
    ],
)
def test_columns_that_no_record_has_are_refused_by_name(spark, columns, message):
    made = of(lambda a: {"b": a.selectExpr(*columns)})
    with pytest.raises(InvalidPipeline, match=message):
        check_outputs(made, made.outputs([probe(spark, include_headers=False)]))


def test_outputs_of_different_columns_become_one_frame(spark):
    first = spark.createDataFrame([(b"k", "v")], "key binary, value string")
    second = spark.createDataFrame([("w", 3)], "value string, partition int")
    rows = one_frame({"b": first, "c": second}).select("topic", "key", "value", "partition").collect()
    assert [tuple(row) for row in rows] == [("b", b"k", b"v", None), ("c", None, b"w", 3)]
