"""The frame of records that a sink makes of what it is given."""

import pytest
from pyspark.sql import SparkSession

from fencepost.spark.sink.frames import record_rows


@pytest.mark.parametrize("escapes_nothing", ["true", "false"])
@pytest.mark.parametrize("name", ["out", "it's", "back\\slash", "'; drop", "é", ""])
def test_a_topics_name_reaches_its_rows_whatever_is_in_it(spark: SparkSession, name: str, escapes_nothing: str) -> None:
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escapes_nothing)
    try:
        values = spark.createDataFrame([("v",)], "value string")
        rows = record_rows({name: values, "other": values}, None)
        assert rows is not None
        assert rows.topic is None
        assert [tuple(row) for row in rows.frame.collect()] == [(name, None, b"v"), ("other", None, b"v")]
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_a_column_that_one_frame_has_is_null_in_the_rows_of_the_other(spark: SparkSession) -> None:
    full = spark.createDataFrame([("k", "v", 3)], "key string, value string, partition int")
    rows = record_rows({"a": full, "b": full.select("value")}, None)
    assert rows is not None
    assert {tuple(row) for row in rows.frame.collect()} == {("a", b"k", b"v", 3), ("b", None, b"v", None)}


def test_rows_that_all_go_to_one_topic_carry_no_column_for_it(spark: SparkSession) -> None:
    values = spark.createDataFrame([("ignored", "v")], "topic string, value string")
    for frames, topic, count in ((values, "out", 1), ([values, values], "out", 2), ({"out": values}, None, 1)):
        rows = record_rows(frames, topic)
        assert rows is not None
        assert rows.topic == "out"
        assert [tuple(row) for row in rows.frame.collect()] == [(None, b"v")] * count


def test_a_topic_of_each_row_stays_with_it(spark: SparkSession) -> None:
    values = spark.createDataFrame([("a", "v"), ("b", "w")], "topic string, value string")
    rows = record_rows(values, None)
    assert rows is not None
    assert rows.topic is None
    assert {tuple(row) for row in rows.frame.collect()} == {("a", None, b"v"), ("b", None, b"w")}


def test_a_frame_that_is_as_it_should_be_is_left_alone(spark: SparkSession) -> None:
    full = spark.createDataFrame([], "key binary, value binary, partition int")
    assert record_rows(full, "out") == (full, "out")
    swapped = full.select("value", "key", "partition")
    rows = record_rows(swapped, "out")
    assert rows is not None
    assert rows.frame.columns == full.columns
