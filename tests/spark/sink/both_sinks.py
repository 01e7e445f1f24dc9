"""A program: the same rows through our sink and through Spark's connector, in batch and in streams, each read by both.

Its own process, because the connector's jars have to be there when Spark starts. Arguments: servers, jars, a folder.
The topics are there already. It prints, as JSON, what each reader found on each topic.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from fencepost.pipelines.session import start_session
from fencepost.spark import TransactionalSink, register

KAFKA, OURS = "kafka", "fencepost"
SCHEMA = "key binary, value binary, headers array<struct<key:string,value:binary>>"
TOPICS = ("ours", "theirs", "ours-from-theirs", "theirs-from-ours")
ROW_COUNT = 300


def row(number: int) -> tuple[Any, ...]:
    key = [None, b"", b"k%d" % number, b"\xff\x00" * (number % 40)][number % 4]
    value = [b"v%d" % number, None, b"", b"\x00" * 3000][number % 4 if number % 3 else 0]
    headers = [None, [], [("trace", b"%d" % number), ("trace", None)], [("", b"")]][number % 7 % 4]
    return key, value, headers


def options_of(servers: str, topic: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "includeHeaders": "true",
        "kafka.isolation.level": "read_committed",
        "startingOffsets": "earliest",
    }


def shown(frame: DataFrame) -> list[str]:
    rows = frame.selectExpr(
        "hex(key) AS key",
        "hex(value) AS value",
        "partition",
        "transform(headers, header -> concat(header.key, '=', coalesce(hex(header.value), 'null'))) AS headers",
    )
    return list(rows.toJSON().collect())


def streamed(spark: SparkSession, source: str, options: dict[str, str], checkpoint: Path) -> list[str]:
    seen: list[str] = []
    stream = spark.readStream.format(source).options(**options).load()
    query = stream.writeStream.foreachBatch(lambda frame, _: seen.extend(shown(frame)))
    query.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start().awaitTermination()
    return seen


def write(spark: SparkSession, servers: str, folder: Path) -> None:
    frame = spark.createDataFrame([row(number) for number in range(ROW_COUNT)], SCHEMA)
    with TransactionalSink(servers, name="batch", topic="ours") as sink:
        sink.write(frame, token="once")
    frame.write.format(KAFKA).option("kafka.bootstrap.servers", servers).option("topic", "theirs").save()

    records = ("key", "value", "headers")
    theirs = spark.readStream.format(KAFKA).options(**options_of(servers, "theirs")).load().select(*records)
    with TransactionalSink(servers, name="stream", topic="ours-from-theirs") as sink:
        query = theirs.writeStream.foreachBatch(sink).option("checkpointLocation", str(folder / "ours"))
        query.trigger(availableNow=True).start().awaitTermination()
    ours = spark.readStream.format(OURS).options(**options_of(servers, "ours")).load().select(*records)
    back = ours.writeStream.format(KAFKA).option("kafka.bootstrap.servers", servers).option("topic", "theirs-from-ours")
    back.option("checkpointLocation", str(folder / "theirs")).trigger(availableNow=True).start().awaitTermination()


def main(servers: str, jars: str, folder: str) -> None:
    paths = ",".join(str(path) for path in sorted(Path(jars).glob("*.jar")))
    spark = start_session(settings={"spark.jars": paths})
    register(spark)
    write(spark, servers, Path(folder))
    found = {}
    for topic in TOPICS:
        options = options_of(servers, topic)
        for source in (KAFKA, OURS):
            found[f"{topic} in batch by {source}"] = shown(spark.read.format(source).options(**options).load())
            checkpoint = Path(folder) / f"{topic}-{source}"
            found[f"{topic} streamed by {source}"] = streamed(spark, source, options, checkpoint)
    print(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
