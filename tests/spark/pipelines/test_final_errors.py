"""Errors of the source as Spark really passes them on: the runner has to know them by their text."""

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import functions as f
from pyspark.sql.datasource import DataSource, DataSourceReader

from fencepost.client import Admin
from fencepost.pipelines.restarting import in_one_line, is_final
from fencepost.spark.source.following import DataLoss
from tests.spark.pipelines.use import Drained, create, one, write

pytestmark = pytest.mark.timeout(1800)
ROW = b"\x00\x00\x00\x07"


def test_loss_that_the_driver_finds_is_final_and_told_in_one_line(spark, servers, tmp_path):
    create(servers, "tx-input", "tx-output", "tx-input.dead-letters", partitions=1)
    write(servers, "tx-input", [(b"k", ROW)])
    Drained(spark, one("squares"), servers, tmp_path)
    with Admin(servers) as admin:
        admin.delete_topics(["tx-input"])
    create(servers, "tx-input", partitions=1)
    with pytest.raises(StreamingQueryException) as caught:
        Drained(spark, one("squares"), servers, tmp_path)
    assert is_final(caught.value)
    assert in_one_line(caught.value).startswith("DataLoss: topic tx-input was deleted and created again")


class Losing(DataSource):
    """Loses records in a task, as the source does: an exception that came from another one."""

    @classmethod
    def name(cls):
        return "losing"

    def schema(self):
        return "value string"

    def reader(self, schema):
        return LosingReader()


class LosingReader(DataSourceReader):
    def read(self, partition):
        from fencepost.client.exceptions import OffsetOutOfRange
        from fencepost.spark.source.following import LossPolicy
        from fencepost.types import TopicPartition

        try:
            raise OffsetOutOfRange(TopicPartition("purchases", 0), 7, "no such offset")
        except OffsetOutOfRange:
            LossPolicy(fail_on_data_loss=True).report("records are gone")
        yield ("never",)


def test_loss_that_a_task_finds_is_final_and_told_in_one_line(spark):
    spark.dataSource.register(Losing)
    with pytest.raises(PySparkException) as caught:
        spark.read.format("losing").load().collect()
    assert is_final(caught.value), str(caught.value)
    assert in_one_line(caught.value).startswith("DataLoss: records are gone.")


def test_a_row_that_looks_like_loss_is_not_final(spark):
    fake = f"x\n{DataLoss.__module__}.DataLoss: fake"

    @f.udf("string")
    def refuse(value):
        raise ValueError(f"bad row {value}")

    rows = spark.createDataFrame([(fake,)], "value string")
    for query in (rows.select(refuse("value")), rows.select(f.col("value").cast("int"))):
        with pytest.raises(PySparkException) as caught:
            query.collect()
        assert fake in str(caught.value)
        assert not is_final(caught.value)
