"""What the first micro-batch would wait for, done while Spark's JVM starts and the broker is asked for its topics.

The driver loads the sink; the session's Python workers are forked by a job that does nothing but load the kernels.
"""

import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER_MODULES = ("pandas", "fencepost.records.columnar", "fencepost.spark.sink", "fencepost.spark.source")


def warm_driver() -> None:
    """Import what the first micro-batch needs here; missing optional packages are told where they are needed."""
    for name in DRIVER_MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


def warm_workers(spark: "SparkSession") -> None:
    count = spark.sparkContext.defaultParallelism
    spark.range(count, numPartitions=count).mapInArrow(warm_worker, "id long").collect()


def warm_worker(batches: Iterator[Any]) -> Iterator[Any]:
    """Half a second in every process that was not forked from `worker_daemon`, which has the kernels loaded."""
    from fencepost.records.columnar import warm_up

    warm_up()
    yield from batches


def in_background(work: Any, *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, name=f"warm-up {work.__name__}", daemon=True)
    thread.start()
    return thread
