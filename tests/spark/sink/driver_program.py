"""A small driver: drains `in` into `out` and `copies` through a sink, in its own Spark session, and ends.

Run as a process, so that it can be killed: `python -m tests.spark.sink.driver_program '<json>'`. Without an argument it
is a spare: it starts its session, and waits on standard input for its options, variables and the file it prints to.

With `"connector": true` source and sink are Spark's own, whose jars `spark.jars` names; with `"connector": "stream"`
the sink is that of `writeStream`, which has no place to fail: the task with the value `SLOW_VALUE` takes its time.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming import DataStreamWriter

from fencepost.lab.apache_kafka import SHORT_LIVED
from fencepost.pipelines.session import JAVA_OPTIONS, start_session
from fencepost.spark import TransactionalSink, register
from fencepost.spark.sink import fail_points
from fencepost.spark.sink.fail_points import fail_point

SLOW_VALUE = "SLOW_VALUE"
SLOW_S = 600
FOR_EXECUTORS = ("EXACTLY_ONCE_FAIL_AT", "EXACTLY_ONCE_FAIL_LOG", "PYTHONPATH")


def random_copies(rows: DataFrame) -> dict[str, DataFrame]:
    """Each value with a random id, the same on both topics."""
    marked = rows.select("key", sql.concat(sql.col("value"), sql.lit("|"), sql.expr("uuid()")).alias("value"))
    return {"out": marked, "copies": marked}


def connector_sink(servers: str) -> Callable[[DataFrame, int], None]:
    """The same outputs through Spark's own sink, with the same place to fail: written, and Spark does not know it."""

    def write(rows: DataFrame, _: int) -> None:
        frames = [frame.withColumn("topic", sql.lit(topic)) for topic, frame in random_copies(rows).items()]
        written = frames[0].union(frames[1]).write.format("kafka")
        written.option("kafka.bootstrap.servers", servers).save()
        fail_point("after-commit")

    return write


def slowly(value: bytes) -> bytes:
    if bytes(value).decode() == os.environ.get(SLOW_VALUE):
        time.sleep(SLOW_S)
    return bytes(value)


def connector_stream(stream: DataFrame, servers: str) -> DataStreamWriter:
    rows = stream.select("key", sql.udf(slowly, "binary")("value").alias("value"))
    return rows.writeStream.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", "out")


def session(options: dict[str, Any]) -> SparkSession:
    settings = {
        "spark.driver.memory": "1g",
        JAVA_OPTIONS: " ".join(SHORT_LIVED),
        **{f"spark.executorEnv.{name}": os.environ[name] for name in FOR_EXECUTORS if os.environ.get(name)},
        **options.get("spark", {}),
    }
    made = start_session(master=options.get("master", "local[2,4]"), settings=settings)
    made.sparkContext.setLogLevel("ERROR")
    return made


def wait_for_job(spark: SparkSession) -> dict[str, Any]:
    """The options of a spare, which is then as if it had been started with them."""
    line = sys.stdin.readline()
    if not line:
        sys.exit("it was not needed")
    job: dict[str, Any] = json.loads(line)
    with open(job["output"], "w") as output:
        for number in (1, 2):
            os.dup2(output.fileno(), number)
    os.environ.update(job["environment"])
    spark.sparkContext.environment.update({name: os.environ[name] for name in FOR_EXECUTORS if os.environ.get(name)})
    fail_points._armed = fail_points._parse(os.environ[fail_points.FAIL_AT])
    options: dict[str, Any] = job["options"]
    return options


def main() -> None:
    given = json.loads(sys.argv[1]) if len(sys.argv) > 1 else None
    spark = session(given or {})
    register(spark)
    options = given or wait_for_job(spark)
    is_control = options.get("connector", False)
    stream = (
        spark.readStream.format("kafka" if is_control else "fencepost")
        .option("kafka.bootstrap.servers", options["servers"])
        .option("subscribe", "in")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", options.get("per_trigger", 400))
        .load()
    )
    events: list[dict[str, object]] = []

    def tell(event: object) -> None:
        print(event, flush=True)
        events.append({name: getattr(event, name) for name in ("batch_id", "is_skipped", "retry_count", "mode")})

    sink = TransactionalSink(
        options["servers"], name="driver", transform=random_copies, on_event=tell, **options.get("sink", {})
    )
    if is_control == "stream":
        writer = connector_stream(stream, options["servers"])
    else:
        writer = stream.writeStream.foreachBatch(connector_sink(options["servers"]) if is_control else sink)
    query = writer.option("checkpointLocation", options["checkpoint"]).trigger(availableNow=True).start()
    query.awaitTermination()
    print("EVENTS " + json.dumps(events), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
