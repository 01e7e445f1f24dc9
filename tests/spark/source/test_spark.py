"""The source inside Spark itself: plans, triggers, checkpoints, errors as users meet them, no secret in sight."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming import StreamingQuery

from fencepost.client import Admin
from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.offsets import source_offsets
from fencepost.spark.source.reading import (
    ARROW_SCHEMA,
    ARROW_SCHEMA_WITH_HEADERS,
    SPARK_SCHEMA,
    SPARK_SCHEMA_WITH_HEADERS,
)
from tests.spark.source.broker_use import create, numbered, produce, run_transaction, trim

FIRST, SECOND = numbered("first", 40), numbered("second", 40)
SECRET = "correct-horse-battery-staple"


class Stream:
    """A query that keeps the values that it sees, by micro-batch."""

    def __init__(self, spark: SparkSession, broker: EmbeddedBroker, checkpoint: Path, **options: str) -> None:
        self._spark = spark
        self._options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "purchases", **options}
        self.checkpoint = checkpoint
        self.seen: list[tuple[int, list[bytes]]] = []

    @property
    def values(self) -> list[bytes]:
        return sorted(value for _, values in self.seen for value in values)

    def frame(self) -> DataFrame:
        return self._spark.readStream.format("fencepost").options(**self._options).load()

    def run(self, **trigger: Any) -> StreamingQuery:
        """To its end, which is what is there at its start unless told otherwise."""
        writer = self.frame().writeStream.foreachBatch(self._keep).option("checkpointLocation", str(self.checkpoint))
        query = writer.trigger(**(trigger or {"availableNow": True})).start()
        query.awaitTermination()
        return query

    def _keep(self, frame: DataFrame, batch_id: int) -> None:
        self.seen.append((batch_id, [bytes(row.value) for row in frame.select("value").collect()]))


@pytest.fixture
def stream(spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path) -> Callable[..., Stream]:
    return lambda **options: Stream(spark, broker, tmp_path, **{"startingOffsets": "earliest", **options})


def printed(action: Callable[[], object]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        action()
    return output.getvalue()


def test_columns_have_the_types_of_sparks_kafka_source(spark: SparkSession) -> None:
    reader = spark.read.format("fencepost").option("kafka.bootstrap.servers", "localhost:1").option("subscribe", "t")
    documented = (
        "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
    )
    with_headers = f"{documented}, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
    assert reader.load().schema == spark.createDataFrame([], documented).schema
    assert reader.option("includeHeaders", "true").load().schema == spark.createDataFrame([], with_headers).schema


def test_arrow_batches_have_exactly_the_types_that_spark_expects() -> None:
    assert to_arrow_schema(SPARK_SCHEMA, timezone="UTC").equals(ARROW_SCHEMA)
    assert to_arrow_schema(SPARK_SCHEMA_WITH_HEADERS, timezone="UTC").equals(ARROW_SCHEMA_WITH_HEADERS)


def test_a_stream_with_a_limit_goes_on_after_a_restart(stream: Callable[..., Stream], broker: EmbeddedBroker) -> None:
    create(broker, "purchases", 3)
    produce(broker, "purchases", FIRST)
    query = stream(maxOffsetsPerTrigger="25")
    progress = query.run().lastProgress
    assert query.values == sorted(FIRST)
    assert query.seen[0] == (0, [])
    assert [len(values) for _, values in query.seen[1:]] != [40]
    assert progress is not None
    latest = source_offsets(progress["sources"][0]["latestOffset"])
    assert latest is not None
    assert sum(latest.positions.values()) == len(FIRST)
    produce(broker, "purchases", SECOND)
    with Admin(broker.bootstrap_servers) as admin:
        admin.create_partitions({"purchases": 4})
    produce(broker, "purchases", FIRST, partition=3)
    query.run()
    assert query.values == sorted(FIRST + SECOND + FIRST)


def test_a_crash_in_micro_batch_0_is_run_again_from_the_same_start(
    stream: Callable[..., Stream], broker: EmbeddedBroker
) -> None:
    produce(broker, "purchases", FIRST)
    query = stream(startingOffsets="latest")
    query.run()
    for commit in query.checkpoint.glob("commits/*"):
        commit.unlink()
    produce(broker, "purchases", SECOND)
    query.run()
    assert [batch_id for batch_id, _ in query.seen] == [0, 0, 1]
    assert query.values == sorted(SECOND)


@pytest.mark.deep
def test_trigger_once_reads_what_is_there(stream: Callable[..., Stream], broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = stream(maxOffsetsPerTrigger="10")
    query.run(once=True)
    assert query.seen == [(0, FIRST)]


@pytest.mark.deep
def test_only_committed_transactions_become_rows(stream: Callable[..., Stream], broker: EmbeddedBroker) -> None:
    run_transaction(broker, "purchases", FIRST)
    run_transaction(broker, "purchases", SECOND, commits=False)
    query = stream(minPartitions="4")
    query.run()
    assert query.values == sorted(FIRST)


def test_loss_stops_the_query_with_words_that_help(stream: Callable[..., Stream], broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", FIRST)
    query = stream()
    query.run()
    produce(broker, "purchases", SECOND)
    trim(broker, "purchases", 50)
    complaint = r"purchases, partition 0 .* expected offset 40, first available 50, 10 offsets are missing"
    with pytest.raises(PySparkException, match=complaint):
        query.run()


def test_a_bad_option_is_refused_before_the_query_starts(stream: Callable[..., Stream]) -> None:
    with pytest.raises(PySparkException, match=r"unknown option 'startingofset'; did you mean 'startingOffsets'"):
        stream(startingOfset="earliest").frame()
    with pytest.raises(PySparkException, match="'endingOffsets' is for batch queries"):
        stream(endingOffsets="latest").run()


def test_a_missing_topic_is_told_at_planning(spark: SparkSession, broker: EmbeddedBroker) -> None:
    reader = spark.read.format("fencepost").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    with pytest.raises(PySparkException, match="topic 'purchases' does not exist: create it first"):
        reader.option("subscribe", "purchases").load().count()


def test_secrets_are_in_no_plan_and_in_no_file(
    spark: SparkSession, stream: Callable[..., Stream], broker: EmbeddedBroker
) -> None:
    produce(broker, "purchases", FIRST)
    jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="shop" password="{SECRET}";'
    secrets = {"kafka.sasl.jaas.config": jaas, "kafka.sasl.password": SECRET, "kafka.ssl.key.password": SECRET}
    query = stream(**secrets)
    running = query.run()
    frame = query.frame()
    batch = (
        spark.read.format("fencepost")
        .options(**secrets, **{"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "purchases"})
        .load()
    )
    shown = [
        printed(lambda: frame.explain(True)),
        printed(lambda: running.explain(True)),
        json.dumps(running.lastProgress, default=str),
        *(printed(lambda mode=mode: batch.explain(mode=mode)) for mode in ("extended", "formatted", "codegen", "cost")),
        *(file.read_text() for file in query.checkpoint.rglob("*") if file.is_file() and file.suffix != ".crc"),
    ]
    assert len(shown) > 10
    assert "fencepost" in shown[0]
    assert not [text for text in shown if SECRET in text]


def test_a_refused_login_does_not_repeat_the_password(spark: SparkSession, broker: EmbeddedBroker) -> None:
    create(broker, "purchases")
    options = {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.username": "shop",
        "kafka.sasl.password": SECRET,
        "kafka.default.api.timeout.ms": "500",
        "subscribe": "purchases",
    }
    with pytest.raises(PySparkException) as problem:
        spark.read.format("fencepost").options(**options).load().count()
    assert SECRET not in str(problem.value)
