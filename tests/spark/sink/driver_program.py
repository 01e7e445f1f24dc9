"""A small driver: drains `in` into `out` and `copies` through a sink, in its own Spark session, and ends.

Run as a process, so that it can be killed: `python -m tests.spark.sink.driver_program '<json>'`.
"""

import json
import os
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from fencepost.pipelines.session import start_session
from fencepost.spark import TransactionalSink, register

FOR_EXECUTORS = ("EXACTLY_ONCE_FAIL_AT", "EXACTLY_ONCE_FAIL_LOG", "PYTHONPATH")


def random_copies(rows: DataFrame) -> dict[str, DataFrame]:
    """Each value with a random id, the same on both topics."""
    marked = rows.select("key", sql.concat(sql.col("value"), sql.lit("|"), sql.expr("uuid()")).alias("value"))
    return {"out": marked, "copies": marked}


def session(options: dict[str, Any]) -> SparkSession:
    settings = {
        "spark.driver.memory": "1g",
        **{f"spark.executorEnv.{name}": os.environ[name] for name in FOR_EXECUTORS if os.environ.get(name)},
        **options.get("spark", {}),
    }
    made = start_session(master=options.get("master", "local[2,4]"), settings=settings)
    made.sparkContext.setLogLevel("ERROR")
    return made


def main() -> None:
    options = json.loads(sys.argv[1])
    spark = session(options)
    register(spark)
    stream = (
        spark.readStream.format("fencepost")
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
    query = (
        stream.writeStream.foreachBatch(sink)
        .option("checkpointLocation", options["checkpoint"])
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    print("EVENTS " + json.dumps(events), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
