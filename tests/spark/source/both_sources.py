"""A program: reads one topic with our source and with Spark's connector, and prints both schemas and rows as JSON.

Its own process, because the connector's jars have to be there when Spark starts. Arguments: servers, topic, jars,
checkpoint. The stream is begun by the connector and continued by our source from the same checkpoint.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from fencepost.pipelines.session import start_session
from fencepost.spark import register

KAFKA, OURS = "kafka", "fencepost"


def batch_of(spark: SparkSession, source: str, options: dict[str, str]) -> dict[str, Any]:
    frame = spark.read.format(source).options(**options).load()
    rows = frame.selectExpr(
        "base64(key) AS key",
        "base64(value) AS value",
        "topic",
        "partition",
        "offset",
        "unix_millis(timestamp) AS timestamp",
        "timestampType",
        "transform(headers, header -> concat(header.key, '=', coalesce(base64(header.value), 'null'))) AS headers",
    )
    return {"schema": json.loads(frame.schema.json()), "rows": sorted(rows.toJSON().collect())}


def streamed(spark: SparkSession, source: str, options: dict[str, str], checkpoint: Path) -> list[str]:
    seen: list[str] = []

    def keep(frame: DataFrame, _: int) -> None:
        seen.extend(row.at for row in frame.selectExpr("concat(partition, '-', offset) AS at").collect())

    stream = spark.readStream.format(source).options(**options, startingOffsets="earliest").load()
    writer = stream.writeStream.foreachBatch(keep).option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
    return sorted(seen)


def main(servers: str, topic: str, jars: str, checkpoint: str) -> None:
    paths = ",".join(str(path) for path in sorted(Path(jars).glob("*.jar")))
    session = start_session(settings={"spark.jars": paths})
    register(session)
    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "includeHeaders": "true"}
    limited = {**options, "kafka.isolation.level": "read_committed"}
    found = {source: batch_of(session, source, limited) for source in (KAFKA, OURS)}
    found["begun"] = streamed(session, KAFKA, limited, Path(checkpoint))
    found["continued"] = streamed(session, OURS, options, Path(checkpoint))
    print(json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
