"""What `transformWithState` asks for beside Spark: the package protobuf, and state that is kept in RocksDB.

Spark would say so in the middle of the first micro-batch, from a worker; here a missing package is told before
anything starts, and the state store is chosen for the queries that need it, with the file system that it can upload
to. The choice is written into a query's checkpoint when it first starts.
"""

import importlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline
from fencepost.pipelines.session import STATE_STORE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
def state_store(spark: "SparkSession", operators: Collection[str]) -> Iterator[None]:
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
