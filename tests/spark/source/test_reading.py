"""The source end to end: real Spark, real broker, streaming and batch."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from fencepost.client import Producer
from fencepost.server.embedded import EmbeddedBroker


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings={"num.partitions": "3", "fsync": "never"}) as broker:
        yield broker


def produce(broker: EmbeddedBroker, topic: str, values: list[bytes]) -> None:
    with Producer(broker.bootstrap_servers) as producer:
        for value in values:
            producer.send(topic, key=value, value=value)
        producer.flush()


def test_a_batch_query_reads_everything_that_was_written(spark: SparkSession, broker: EmbeddedBroker) -> None:
    values = [b"%d" % number for number in range(200)]
    produce(broker, "purchases", values)
    frame = (
        spark.read.format("fencepost")
        .option("kafka.bootstrap.servers", broker.bootstrap_servers)
        .option("subscribe", "purchases")
        .load()
    )
    assert sorted(bytes(row.value) for row in frame.select("value").collect()) == sorted(values)


def test_a_streaming_query_goes_on_where_its_checkpoint_says(
    spark: SparkSession, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    seen: list[bytes] = []

    def keep(frame: DataFrame, _: int) -> None:
        seen.extend(bytes(row.value) for row in frame.select("value").collect())

    def run() -> None:
        stream = (
            spark.readStream.format("fencepost")
            .option("kafka.bootstrap.servers", broker.bootstrap_servers)
            .option("subscribe", "purchases")
            .option("startingOffsets", "earliest")
            .load()
        )
        writer = stream.writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path))
        writer.trigger(availableNow=True).start().awaitTermination()

    first, second = [b"first-%d" % n for n in range(50)], [b"second-%d" % n for n in range(50)]
    produce(broker, "purchases", first)
    run()
    assert sorted(seen) == sorted(first)
    produce(broker, "purchases", second)
    run()
    assert sorted(seen) == sorted(first + second)
