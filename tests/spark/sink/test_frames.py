"""The frame of records that a sink makes of what it is given."""

import pytest
from pyspark.sql import SparkSession

from fencepost.spark.frames import record_frame


@pytest.mark.parametrize("escapes_nothing", ["true", "false"])
@pytest.mark.parametrize("name", ["out", "it's", "back\\slash", "'; drop", "é", ""])
def test_a_topics_name_reaches_its_rows_whatever_is_in_it(spark: SparkSession, name: str, escapes_nothing: str) -> None:
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escapes_nothing)
    try:
        frame = record_frame(spark.createDataFrame([("v",)], "value string"), name)
        assert frame is not None
        assert [tuple(row) for row in frame.collect()] == [(name, None, b"v")]
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_a_column_that_one_frame_has_is_null_in_the_rows_of_the_other(spark: SparkSession) -> None:
    full = spark.createDataFrame([("k", "v", 3)], "key string, value string, partition int")
    frame = record_frame({"a": full, "b": full.select("value")}, None)
    assert frame is not None
    assert {tuple(row) for row in frame.collect()} == {("a", b"k", b"v", 3), ("b", None, b"v", None)}
