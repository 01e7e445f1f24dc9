"""What Spark starts to fork Python workers from: pyspark's own daemon, with what every task of a pipeline needs
already loaded.

Modules that are imported here, and the compiled kernels, are shared by all workers, so the first micro-batch does not
wait for them. They are frozen besides: pyspark's workers collect garbage after every task, and would look at all that
was loaded each time, which takes longer than a small task.
"""

import gc
import importlib
import sys
import warnings

PRELOADED = (
    "pyarrow",
    "pandas",
    "fencepost.records.columnar",
    "fencepost.client.consumer.arrow_reading",
    "fencepost.spark.source",
    "fencepost.spark.encode",
    "fencepost.spark.publish_task",
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
