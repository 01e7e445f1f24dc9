"""Executors mode shuffles before it pins: what it needs of Spark for that, and how it finds out that rows are gone."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from fencepost.spark import TransactionalSink
from fencepost.spark.sink.errors import PublishFailed, RefusedSetup
from fencepost.spark.sink.pinning import check_complete
from tests.spark.sink.streams import rows_of

CHECKSUM = "spark.sql.shuffle.orderIndependentChecksum"
SETTINGS = [f"{CHECKSUM}.enabled", f"{CHECKSUM}.enableFullRetryOnMismatch"]

Row = tuple[int, int, int, int]


@pytest.fixture(params=SETTINGS)
def setting(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    yield request.param
    spark.conf.unset(request.param)


def test_executors_mode_is_refused_while_spark_does_not_compare_what_tasks_shuffle(
    spark: SparkSession, servers: str, setting: str
) -> None:
    rows = spark.range(10).selectExpr("cast(id as string) value")
    with TransactionalSink(servers, name="s", topic="out", mode="executors") as sink:
        sink.write(rows, token="a")
        spark.conf.set(setting, "false")
        with pytest.raises(RefusedSetup, match=rf"{setting}=false: .* needs true"):
            sink.write(rows, token="b")
        assert rows_of(servers, "out").total() == 10
        spark.conf.set(setting, "TRUE")
        sink.write(rows, token="b")
    assert rows_of(servers, "out").total() == 20


def test_driver_mode_shuffles_nothing_and_needs_no_such_setting(
    spark: SparkSession, servers: str, setting: str
) -> None:
    spark.conf.set(setting, "false")
    with TransactionalSink(servers, name="s", topic="out", mode="driver") as sink:
        assert sink.write(spark.range(10).selectExpr("cast(id as string) value"), token="a")


def listed(*rows: Row) -> pa.Table:
    """Of record batches: which task encoded them, as which in its order, after how many records, and how many."""
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("task", "place", "before", "records"), columns, strict=True)))


WHOLE: list[Row] = [(0, 1, 0, 5), (0, 2, 5, 7), (0, 3, 12, 1), (1, 1, 0, 2), (1, 2, 2, 2)]


def test_all_batches_of_all_tasks_are_complete_in_any_order() -> None:
    check_complete(listed(*WHOLE))
    check_complete(listed(*reversed(WHOLE)))
    check_complete(listed(*WHOLE).slice(0, 0))


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([*WHOLE[:1], *WHOLE[2:]], "one is missing"),
        ([*WHOLE, WHOLE[1]], "one is there twice"),
        ([WHOLE[0], (0, 2, 4, 8), *WHOLE[2:]], "one is of another attempt, which dealt its rows otherwise"),
        (WHOLE[1:], "the first is missing"),
    ],
)
def test_batches_of_two_attempts_are_found_out(rows: list[Row], what: str) -> None:
    with pytest.raises(PublishFailed, match="task 0"):
        check_complete(listed(*rows))
