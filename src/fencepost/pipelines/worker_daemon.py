"""What Spark starts to fork Python workers from: pyspark's own daemon, with what every task of a pipeline needs
already loaded.

Modules that are imported here, and the compiled kernels, are shared by all workers, so the first micro-batch does not
wait for them. They are frozen besides: pyspark's workers collect garbage after every task, and would look at all that
was loaded each time, which takes longer than a small task. Kernels loaded ahead and frozen brought 99,337 rows/s
instead of 81,648, modules frozen 2.7 us a row (docs/benchmarks.md). `pyspark.zip`, which Spark puts in front of the
path, is left out: source is read from it and compiled anew by every process.
"""

import contextlib
import gc
import importlib
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PRELOADED = (
    "pyarrow",
    "pandas",
    "fencepost.records.columnar",
    "fencepost.client.consumer.arrow_reading",
    "fencepost.spark.source",
    "fencepost.spark.sink.encode",
    "fencepost.spark.sink.publish_task",
)


def preload() -> list[str]:
    """Import what is there; a missing optional package is no reason to have no workers. Tells what was loaded."""
    loaded = []
    for name in PRELOADED:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        loaded.append(name)
    return loaded


def load_kernels() -> None:
    """Compiled code too is loaded once for all. What is wrong with it is for the task to say that needs it."""
    from fencepost.records.columnar import warm_up

    try:
        warm_up()
    except Exception as problem:  # noqa: BLE001 - without a daemon no worker could say anything
        sys.stderr.write(f"kernels cannot be loaded ahead: {problem}\n")


def start_workers(spark: "SparkSession") -> None:
    """Fork the session's workers while the broker is asked for its topics, by a job that does nothing.

    What pyspark loads to make it is loaded here, and only the job itself runs on another thread. What fails here will
    fail where it is needed: a package that is missing, a JVM that has ended with the run.
    """

    def run(job: "DataFrame") -> None:
        with contextlib.suppress(Exception):
            job.collect()

    with contextlib.suppress(Exception):
        count = spark.sparkContext.defaultParallelism
        job = spark.range(count, numPartitions=count).mapInArrow(pass_on, "id long")
        threading.Thread(target=run, args=(job,), name="start-workers", daemon=True).start()


def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
    """Loads the kernels where another daemon was chosen."""
    load_kernels()
    yield from batches


def main() -> None:
    sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    preload()
    load_kernels()
    from pyspark.daemon import manager

    gc.collect()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
