"""One pipeline of a run as a Spark query: source, the pipeline's function, transactional sink.

A stateless pipeline's function is the sink's transform, applied to each micro-batch: one source reads all its topics,
once. A stateful one's is applied to streams, one source per topic, and the sink gets the union of its outputs.

`SinkGate` stands between Spark and the sink: it keeps the sink's own exception (Spark shows only its text) and lets a
stop wait until no micro-batch is inside.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.state import shape_of, state_store
from fencepost.spark.sink.errors import SinkEvent
from fencepost.spark.sink.frames import HEADERS_DDL
from fencepost.spark.sink.transactional_sink import TransactionalSink

SOURCE_DEFAULTS = {"startingOffsets": "earliest"}
"""A new pipeline begins at the beginning: its output is a function of its whole input."""
POLL_S = 0.02
RECORD_TYPES = {
    "topic": ("string",),
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "partition": ("int",),
    "headers": (HEADERS_DDL,),
    "timestamp": ("timestamp",),
}


def check_outputs(pipeline: Pipeline, outputs: Mapping[str, DataFrame] | DataFrame) -> None:
    """Names and types of the columns, before anything runs. A column that no record can have is a mistake of the
    pipeline (most often a forgotten select), so it is refused, not dropped.
    """
    named: Mapping[Any, DataFrame] = outputs if isinstance(outputs, Mapping) else {None: outputs}
    for topic, frame in named.items():
        which = "of all topics" if topic is None else f"for '{topic}'"
        output = f"pipeline '{pipeline.name}', output {which}"
        if "value" not in frame.columns:
            raise InvalidPipeline(f"{output}: no 'value' column, only {listed(frame.columns)}")
        for name, kind in frame.dtypes:
            if name not in RECORD_TYPES:
                raise InvalidPipeline(
                    f"{output}: column '{name}' is no part of a record; select {listed(RECORD_TYPES)} or some of them"
                )
            expected = RECORD_TYPES[name]
            if kind not in expected and kind != "void":
                raise InvalidPipeline(f"{output}: column '{name}' is {kind}; expected {' or '.join(expected)}")


def one_frame(outputs: Mapping[str, DataFrame] | DataFrame) -> DataFrame:
    """All outputs below each other, each row with its topic: what a stateful pipeline gives to the sink."""
    if not isinstance(outputs, Mapping):
        return outputs
    columns = [name for name in RECORD_TYPES if any(name in frame.columns for frame in outputs.values())]
    columns = list(dict.fromkeys(["topic", "key", "value", *columns]))
    frames = []
    for topic, frame in outputs.items():
        cells = []
        for name in columns:
            cell = f.lit(topic) if name == "topic" else f.col(name) if name in frame.columns else f.lit(None)
            cells.append(cell.cast(RECORD_TYPES[name][0]).alias(name))
        frames.append(frame.select(*cells))
    return reduce(lambda above, below: above.unionByName(below), frames)


class Stopping(Exception):  # noqa: N818 - it is no error
    """Raised into a micro-batch that begins after the stop: Spark runs it again at the next start."""


@dataclass(frozen=True)
class Target:
    """Where a run reads and writes, and where it keeps Spark's checkpoints."""

    bootstrap_servers: str
    checkpoint: str
    namespace: str = "default"

    def checkpoint_of(self, pipeline: Pipeline) -> str:
        return f"{self.checkpoint.rstrip('/')}/{self.namespace}/{pipeline.name}"

    def group_id(self, pipeline: Pipeline, options: RunOptions) -> str:
        return str(options.sink.get("group_id") or f"fencepost.{self.namespace}.{pipeline.name}")


class SinkGate:
    def __init__(self, sink: Callable[[DataFrame, int], None]) -> None:
        self._sink = sink
        self._inside = threading.Lock()
        self._is_closed = False
        self.problem: BaseException | None = None

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        with self._inside:
            if self._is_closed:
                raise Stopping(f"micro-batch {batch_id} waits for the next start")
            try:
                self._sink(batch, batch_id)
            except BaseException as problem:
                self.problem = problem
                raise

    def close(self, timeout_s: float) -> bool:
        """No micro-batch enters any more; waits for the one inside. False: it was still there after the timeout."""
        self._is_closed = True
        if not self._inside.acquire(timeout=timeout_s):
            return False
        self._inside.release()
        return True


def wait_for_rest(query: StreamingQuery, timeout_s: float) -> None:
    """Until Spark has written down that the last micro-batch is done, or refused the next one at the gate."""
    deadline_s = time.monotonic() + timeout_s
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline_s:
        time.sleep(POLL_S)


class Stage:
    """Starts and stops the query of one pipeline; a restart is another start."""

    def __init__(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        *,
        target: Target,
        options: RunOptions,
        on_event: Callable[[SinkEvent], None],
    ) -> None:
        self.pipeline = pipeline
        self._spark = spark
        self._target = target
        self._options = options
        self._on_event = on_event
        includes_headers = str(options.source.get("includeHeaders", "false")).lower() == "true"
        shape = shape_of(spark, pipeline, include_headers=includes_headers)
        check_outputs(pipeline, shape.outputs)
        self._operators = shape.operators
        self.is_stateful = bool(self._operators)
        self._gate: SinkGate | None = None
        self._sink: TransactionalSink | None = None
        self.query: StreamingQuery | None = None

    def start(self, *, available_now: bool) -> None:
        self._sink = self._make_sink()
        self._gate = SinkGate(self._sink)
        stream = self._stateful_output() if self.is_stateful else self._read(self.pipeline.reads)
        writer = (
            stream.writeStream.queryName(self.pipeline.name)
            .option("checkpointLocation", self._target.checkpoint_of(self.pipeline))
            .outputMode(self.pipeline.output_mode if self.is_stateful else "append")
            .foreachBatch(self._gate)
        )
        if available_now:
            writer = writer.trigger(availableNow=True)
        elif self._options.trigger:
            writer = writer.trigger(processingTime=self._options.trigger)
        # A pool of its own, so that no stage waits for another one's tasks.
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self.pipeline.name)
        with state_store(self._spark, self._operators):
            self.query = writer.start()

    @property
    def problem(self) -> BaseException | None:
        """Why the query ended: the sink's own exception where it was the sink, Spark's otherwise."""
        if self._gate is not None and self._gate.problem is not None:
            return self._gate.problem
        return self.query.exception() if self.query is not None else None

    @property
    def is_active(self) -> bool:
        return self.query is not None and self.query.isActive

    def stop(self, *, timeout_s: float) -> bool:
        """Lets the micro-batch that runs come to its end first. False: it did not in time, and was interrupted."""
        is_clean = self._gate.close(timeout_s) if self._gate is not None else True
        if self.query is not None:
            wait_for_rest(self.query, timeout_s)
            self.query.stop()
        self.forget()
        return is_clean

    def forget(self) -> None:
        """Close what the ended query held."""
        if self._sink is not None:
            self._sink.close()
            self._sink = None

    def _make_sink(self) -> TransactionalSink:
        return TransactionalSink(
            self._target.bootstrap_servers,
            name=self.pipeline.name,
            namespace=self._target.namespace,
            transform=None if self.is_stateful else self._transform,
            is_stateful=self.is_stateful,
            on_event=self._on_event,
            **self._options.sink,
        )

    def _transform(self, batch: DataFrame) -> Mapping[str, DataFrame] | DataFrame:
        if len(self.pipeline.reads) == 1:
            return self.pipeline.outputs([batch])
        return self.pipeline.outputs([batch.where(f.col("topic") == topic) for topic in self.pipeline.reads])

    def _stateful_output(self) -> DataFrame:
        return one_frame(self.pipeline.outputs([self._read([topic]) for topic in self.pipeline.reads]))

    def _read(self, topics: Any) -> DataFrame:
        options = {
            "kafka.bootstrap.servers": self._target.bootstrap_servers,
            **SOURCE_DEFAULTS,
            **self._options.source,
            "subscribe": ",".join(topics),
        }
        return self._spark.readStream.format("fencepost").options(**options).load()
