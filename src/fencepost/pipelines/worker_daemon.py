"""What Spark starts to fork Python workers from: pyspark's own daemon, with what every task of a pipeline needs
already loaded.

Modules that are imported here are shared by all workers, so the first micro-batch does not wait for them. They are
frozen besides: pyspark's workers collect garbage after every task, and would look at all that was loaded each time,
which takes longer than a small task.
"""

import gc
import importlib
import sys
import warnings

PRELOADED = (
    "pyarrow",
    "pandas",
    "fencepost.records.columnar",
    "fencepost.client.arrow_reading",
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


def main() -> None:
    sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    preload()
    from pyspark.daemon import manager

    gc.collect()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()
