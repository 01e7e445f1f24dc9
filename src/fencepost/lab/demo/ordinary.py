"""The same shop as an ordinary pipeline: a plain producer in foreachBatch, at least once. Run as a program.

It is written as most are: each micro-batch is sent and flushed before Spark notes that it is done, and a query that
fails is started again. What was written before a kill and not noted is written again. With `--pause-in-batch N` it
waits in micro-batch N between the two, so that the demonstration can kill it there and not near there.
"""

import argparse
import time
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fencepost.client import Producer
from fencepost.lab.demo.shop import shop
from fencepost.pipelines.session import start_session
from fencepost.spark import register

RESTART_PAUSE_S = 1.0


class OrdinarySink:
    def __init__(self, producer: Producer, *, prefix: str, pause_in_batch: int | None, paused_file: Path) -> None:
        self._producer = producer
        self._prefix = prefix
        self._pause_in_batch = pause_in_batch
        self._paused_file = paused_file

    def __call__(self, purchases: DataFrame, batch_id: int) -> None:
        for topic, rows in shop.function(purchases).items():
            table = rows.select("key", rows["value"].cast("binary").alias("value")).toArrow()
            if table.num_rows:
                self._producer.send_arrow(self._prefix + topic, table)
        self._producer.flush()
        if batch_id == self._pause_in_batch:
            self._paused_file.touch()
            time.sleep(3600)


def run(arguments: argparse.Namespace) -> None:
    spark = start_session(app_name="ordinary shop")
    register(spark)
    with Producer(arguments.bootstrap_servers, delivery_timeout_ms=120_000) as producer:
        sink = OrdinarySink(
            producer,
            prefix=arguments.prefix,
            pause_in_batch=arguments.pause_in_batch,
            paused_file=arguments.paused_file,
        )
        while True:
            purchases = (
                spark.readStream.format("fencepost")
                .option("kafka.bootstrap.servers", arguments.bootstrap_servers)
                .option("subscribe", "purchases")
                .option("startingOffsets", "earliest")
                .load()
            )
            query = (
                purchases.writeStream.foreachBatch(sink)
                .option("checkpointLocation", str(arguments.checkpoint))
                .trigger(processingTime="1 second")
                .start()
            )
            try:
                query.awaitTermination()
            except PySparkException:
                time.sleep(RESTART_PAUSE_S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-servers", required=True)
    parser.add_argument("--checkpoint", required=True, type=Path)
    parser.add_argument("--prefix", required=True, help="of the output topics")
    parser.add_argument("--pause-in-batch", type=int)
    parser.add_argument("--paused-file", required=True, type=Path, help="made when the pause begins")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
