"""Running small queries into a sink, and looking at what came out."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from fencepost.client import Admin, Producer, TopicPartition, read_arrow
from fencepost.spark import TransactionalSink
from tests.behaviour_client.reading import wait_for_markers

QUERY_TIMEOUT_S = 240

Row = tuple[bytes | None, bytes | None]
NAMES = ("key", "value")


def fill(servers: str, topic: str, rows: Iterable[Row]) -> None:
    """Records in one transaction, which readers see when this returns."""
    with Producer(servers, transactional_id=f"fill-{topic}") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        for key, value in rows:
            producer.send(topic, key=key, value=value)
        producer.commit_transaction()
    wait_for_markers(servers, topic)


def numbered(start: int, end: int) -> list[Row]:
    return [(b"k%d" % (n % 17), b"v%06d" % n) for n in range(start, end)]


def feed(folder: Path, rows: Iterable[Row]) -> None:
    """One more file for a stream that reads files: a source that starts quickly, with offsets of its own kind."""
    folder.mkdir(exist_ok=True)
    lines = (
        json.dumps({name: None if part is None else part.decode() for name, part in zip(NAMES, row, strict=True)})
        for row in rows
    )
    path = folder / f"{len(list(folder.iterdir())):04d}.json"
    whole = folder.parent / path.name
    whole.write_text("\n".join(lines))
    whole.rename(path)


def files(spark: SparkSession, folder: Path, **options: Any) -> DataFrame:
    return spark.readStream.schema("key string, value string").options(**options).json(str(folder))


def source(spark: SparkSession, servers: str, topic: str, **options: Any) -> DataFrame:
    reader = spark.readStream.format("fencepost").option("kafka.bootstrap.servers", servers).option("subscribe", topic)
    return reader.option("startingOffsets", "earliest").options(**options).load()


def run_to_end(stream: DataFrame, sink: TransactionalSink, checkpoint: Path, *, output_mode: str = "append") -> None:
    """Everything that is there now, through the sink, which stays open: one driver, one of its queries."""
    query = (
        stream.writeStream.foreachBatch(sink)
        .outputMode(output_mode)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    try:
        assert query.awaitTermination(QUERY_TIMEOUT_S), "the query did not come to its end"
    finally:
        query.stop()


def drain(stream: DataFrame, sink: TransactionalSink, checkpoint: Path, *, output_mode: str = "append") -> None:
    """The same, and the driver goes. Returns when everybody can see it: Kafka answers a commit before its markers are
    everywhere.
    """
    with sink:
        run_to_end(stream, sink, checkpoint, output_mode=output_mode)
        with Admin(sink._options.bootstrap_servers) as admin:
            admin.await_transaction_end(sink.transactional_id)


def rows_of(servers: str, topic: str, **options: Any) -> Counter[Row]:
    table = read_arrow(servers, topic, **options)
    return Counter(zip(table.column("key").to_pylist(), table.column("value").to_pylist(), strict=True))


def values_by_partition(servers: str, topic: str) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    table = read_arrow(servers, topic)
    for partition, value in zip(table.column("partition").to_pylist(), table.column("value").to_pylist(), strict=True):
        found.setdefault(partition, []).append(value)
    return found


def lag(servers: str, group_id: str, topic: str) -> int:
    with Admin(servers) as admin:
        partitions = [TopicPartition(topic, index) for index in admin.describe_topics([topic])[topic].partitions]
        ends = admin.latest_offsets(partitions, read_committed=True)
        committed = admin.group_offsets(group_id)
        return sum(ends[where] - committed[where].offset for where in partitions)


def copying_sink(
    servers: str, *, topic: str = "out", columns: Sequence[str] = ("key", "value"), **options: Any
) -> TransactionalSink:
    options.setdefault("name", "copy")
    return TransactionalSink(servers, topic=topic, transform=lambda rows: rows.select(*columns), **options)
