"""What the first micro-batch would wait for, done while Spark's JVM starts and the broker is asked for its topics.

The driver loads the sink; the session's Python workers are forked by a job that does nothing but load the kernels.
"""

import contextlib
import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER_MODULES = ("pandas", "fencepost.records.columnar", "fencepost.spark.sink", "fencepost.spark.source")


def load_driver_modules() -> None:
    """Import what the first micro-batch needs here; a package that is missing or broken is told where it is needed."""
    for name in DRIVER_MODULES:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def warm_workers(spark: "SparkSession") -> None:
    """A run that is over sooner than this job ends the session below it: that is nobody's trouble."""
    with contextlib.suppress(Exception):
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
