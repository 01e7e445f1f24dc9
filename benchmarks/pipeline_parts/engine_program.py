"""A program: one engine that copies topics with Spark, told over standard input what to copy, a JSON object a line.

Arguments: the engine (`connector`, `stock-connector`, `driver`, `executors`) and Spark settings as JSON. A job of kind
`drain` copies what is there and ends, one of kind `follow` copies until the line `stop`; both answer with a line
`answer <JSON>` that lists micro-batches. The end of standard input ends it.
"""

import json
import sys
from typing import Any, TypedDict

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from fencepost.pipelines.session import start_session
from fencepost.pipelines.worker_daemon import start_workers
from fencepost.spark import SinkEvent, TransactionalSink, register

ANSWER = "answer "
CONNECTOR, STOCK_CONNECTOR = "connector", "stock-connector"
"""In the session of `fencepost run`; and with the checkpoint files that Spark writes unless told otherwise."""
CONNECTORS = (CONNECTOR, STOCK_CONNECTOR)


class Job(TypedDict):
    kind: str
    servers: str
    input: str
    output: str
    checkpoint: str
    name: str
    max_offsets: int | None


class Engine:
    def __init__(self, kind: str, spark: SparkSession) -> None:
        self._kind = kind
        self._spark = spark
        self._sink: TransactionalSink | None = None
        self._events: dict[int | None, SinkEvent] = {}

    def start(self, job: Job) -> StreamingQuery:
        self._events.clear()
        options = {
            "kafka.bootstrap.servers": job["servers"],
            "subscribe": job["input"],
            "startingOffsets": "earliest",
        }
        if job["max_offsets"] is not None:
            options["maxOffsetsPerTrigger"] = str(job["max_offsets"])
        source = "kafka" if self._kind in CONNECTORS else "fencepost"
        rows = self._spark.readStream.format(source).options(**options).load().select("key", "value")
        writer = self._writer(rows, job).option("checkpointLocation", job["checkpoint"])
        query: StreamingQuery = (writer.trigger(availableNow=True) if job["kind"] == "drain" else writer).start()
        return query

    def finish(self, query: StreamingQuery) -> list[dict[str, Any]]:
        query.stop()
        if self._sink is not None:
            self._sink.close()
            self._sink = None
        return [self._micro_batch(json.loads(progress.json)) for progress in query.recentProgress]

    def _writer(self, rows: DataFrame, job: Job) -> Any:
        if self._kind in CONNECTORS:
            target = {"kafka.bootstrap.servers": job["servers"], "topic": job["output"]}
            return rows.writeStream.format("kafka").options(**target)
        self._sink = TransactionalSink(
            job["servers"],
            name=job["name"],
            topic=job["output"],
            mode=self._kind,  # type: ignore[arg-type]
            is_stateful=False,
            on_event=self._keep,
        )
        return rows.writeStream.foreachBatch(self._sink)

    def _keep(self, event: SinkEvent) -> None:
        self._events[event.batch_id] = event

    def _micro_batch(self, progress: dict[str, Any]) -> dict[str, Any]:
        phases = dict(progress["durationMs"])
        event = self._events.get(progress["batchId"])
        if event is not None:
            phases |= {"sink: encode and pin": event.encode_ms, "sink: publish and commit": event.commit_ms}
        return {"timestamp": progress["timestamp"], "rows": progress["numInputRows"], "phases": phases}


def main(kind: str, settings: str) -> None:
    spark = start_session(app_name=kind, settings=json.loads(settings))
    if kind not in CONNECTORS:
        register(spark)
        start_workers(spark)
    engine = Engine(kind, spark)
    for line in sys.stdin:
        job: Job = json.loads(line)
        query = engine.start(job)
        if job["kind"] == "drain":
            query.awaitTermination()
        else:
            sys.stdin.readline()
            query.processAllAvailable()
        print(ANSWER + json.dumps(engine.finish(query)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
