"""Does a pipeline keep state between micro-batches? Read from the plan of its outputs over streaming inputs.

A stateless pipeline is applied to each micro-batch. A stateful one must be applied to the stream: inside a
micro-batch an aggregation, a join of two inputs or a limit would silently see the rows of that micro-batch only. What
Spark cannot do on a stream at all is refused here, before anything runs, in Spark's own words.

Outputs of a stateful pipeline become one DataFrame, by union. Two outputs below one stateful operator would make two
copies of its state, so they are refused: give one DataFrame a `topic` column instead.

`transformWithState` asks for more than Spark: the package protobuf, and state that is kept in RocksDB. Spark would say
so in the middle of the first micro-batch, from a worker; here a missing package is reported before anything starts, and
the state store is chosen for the queries that need it, with the file system that it can upload to. The choice is
written into a query's checkpoint when it first starts.
"""

import importlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed
from fencepost.pipelines.session import STATE_STORE
from fencepost.spark.source.reading import SPARK_SCHEMA, SPARK_SCHEMA_WITH_HEADERS

PROCESSORS = {"TransformWithState", "TransformWithStateInPySpark"}
"""Names of Spark's logical operators."""
MESSAGES = "pyspark.sql.streaming.proto.StateMessage_pb2"
ROCKSDB = {
    STATE_STORE: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # RocksDB's files are uploaded through this class and no other; the session's own choice is kept in a cache.
    "fs.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}


def check_processors(pipeline: Pipeline, operators: Collection[str]) -> None:
    if PROCESSORS.isdisjoint(operators):
        return
    try:
        importlib.import_module(MESSAGES)
    except ImportError as problem:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}' uses transformWithState, whose state Spark's Python workers reach through the "
            f"package protobuf, and it cannot be used here ({problem}): pip install 'protobuf>=6.33.5', on executors "
            "too"
        ) from None


@contextmanager
def state_store(spark: SparkSession, operators: Collection[str]) -> Iterator[None]:
    """A query that is started inside has the state store that its operators need."""
    if PROCESSORS.isdisjoint(operators):
        yield
        return
    before = {name: spark.conf.get(name, None) for name in ROCKSDB}
    for name, value in ROCKSDB.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            spark.conf.unset(name) if earlier is None else spark.conf.set(name, earlier)


# Names of Spark's logical operators.
STATEFUL = {
    "Aggregate",
    "Deduplicate",
    "DeduplicateWithinWatermark",
    "Distinct",
    "FlatMapGroupsInPandasWithState",
    "FlatMapGroupsWithState",
    "GlobalLimit",
    *PROCESSORS,
}
# Spark runs these on a stream, each micro-batch by itself: never what a pipeline means.
BLIND = {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"}


@dataclass(frozen=True)
class Shape:
    """What planning a pipeline shows: its outputs, over streams that read nothing, and their stateful operators."""

    outputs: dict[str, DataFrame] | DataFrame
    operators: tuple[str, ...]

    @property
    def is_stateful(self) -> bool:
        return bool(self.operators)


def shape_of(spark: SparkSession, pipeline: Pipeline, *, include_headers: bool = False) -> Shape:
    """Plan the pipeline over streams that have the source's columns and read nothing."""
    inputs = [probe(spark, include_headers=include_headers) for _ in pipeline.reads]
    outputs = plan(pipeline, inputs)
    frames = list(outputs.values()) if isinstance(outputs, dict) else [outputs]
    for frame in frames:
        check_streams(pipeline, frame)
    operators = [list(stateful_operators(logical_plan(frame))) for frame in frames]
    names = tuple(operator.nodeName() for found in operators for operator in found)
    if names:
        check_apart(pipeline, operators)
        check_processors(pipeline, names)
    for frame in frames:
        check_supported(spark, pipeline, frame)
    return Shape(outputs, names)


def plan(pipeline: Pipeline, inputs: Sequence[DataFrame]) -> dict[str, DataFrame] | DataFrame:
    try:
        return pipeline.outputs(inputs)
    except AnalysisException as problem:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}' cannot be planned on a stream: {problem}\n"
            "Its function may only build DataFrames: no collect, count, show or write."
        ) from None


def probe(spark: SparkSession, *, include_headers: bool) -> DataFrame:
    schema = SPARK_SCHEMA_WITH_HEADERS if include_headers else SPARK_SCHEMA
    ticks = spark.readStream.format("rate").load()
    return ticks.select(
        *(
            f.col("timestamp") if field.name == "timestamp" else f.lit(None).cast(field.dataType).alias(field.name)
            for field in schema
        )
    )


def logical_plan(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()


def operators_of(node: Any) -> Iterator[Any]:
    yield node
    for child in children_of(node):
        yield from operators_of(child)


def children_of(node: Any) -> list[Any]:
    children = node.children()
    return [children.apply(position) for position in range(children.size())]


def stateful_operators(node: Any) -> Iterator[Any]:
    for operator in operators_of(node):
        if not operator.isStreaming():
            continue
        is_join = operator.nodeName() == "Join" and all(side.isStreaming() for side in children_of(operator))
        if is_join or operator.nodeName() in STATEFUL:
            yield operator


def check_streams(pipeline: Pipeline, frame: DataFrame) -> None:
    if not frame.isStreaming:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}': an output does not come from its inputs (it is not a stream); "
            f"make it from the DataFrame(s) of {listed(pipeline.reads)}"
        )
    blind = sorted(
        {one.nodeName() for one in operators_of(logical_plan(frame)) if one.nodeName() in BLIND and one.isStreaming()}
    )
    if blind:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}' uses {', '.join(blind)}, which would see the rows of one micro-batch only: "
            "use transformWithState or applyInPandasWithState, which keep state between micro-batches"
        )


def check_apart(pipeline: Pipeline, operators: Sequence[Sequence[Any]]) -> None:
    """No stateful operator of one output may give the same result as one of another output: it would be the same one,
    twice.
    """
    for (topic, ours), (other_topic, others) in combinations(zip(pipeline.writes, operators, strict=False), 2):
        shared = [one.nodeName() for one in ours for other in others if one.sameResult(other)]
        if shared:
            raise InvalidPipeline(
                f"pipeline '{pipeline.name}': {listed((topic, other_topic))} share a stateful parent ({shared[0]}), "
                "whose state would be kept twice: return one DataFrame with a 'topic' column instead of a dict"
            )


def check_supported(spark: SparkSession, pipeline: Pipeline, frame: DataFrame) -> None:
    jvm: Any = spark._jvm
    checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, pipeline.output_mode.capitalize())()
    try:
        checker.checkForStreaming(logical_plan(frame), mode)
    except AnalysisException as problem:
        raise InvalidPipeline(
            f"pipeline '{pipeline.name}' (output mode {pipeline.output_mode}) is not possible on a stream: {problem}"
        ) from None
