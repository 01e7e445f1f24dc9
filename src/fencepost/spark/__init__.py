"""Spark: a source of Arrow batches and a sink that makes every micro-batch one transaction.

Names are loaded when they are first used: workers of Spark import this room for every task.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost.spark.sink.errors import SinkEvent
    from fencepost.spark.sink.transactional_sink import TransactionalSink
    from fencepost.spark.source import FencepostDataSource

__all__ = ["FencepostDataSource", "SinkEvent", "TransactionalSink", "register"]

_HOMES = {
    "FencepostDataSource": "fencepost.spark.source",
    "SinkEvent": "fencepost.spark.sink.errors",
    "TransactionalSink": "fencepost.spark.sink.transactional_sink",
}


def register(spark: "SparkSession") -> None:
    """Make `spark.readStream.format("fencepost")` known to a session."""
    from fencepost.spark.source import FencepostDataSource

    spark.dataSource.register(FencepostDataSource)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fencepost.spark' has no attribute '{name}'")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
