"""What a process of Spark loads for the source: every one of them pays for it."""

import subprocess
import sys


def test_the_source_loads_no_broker_and_nothing_that_only_some_tasks_need() -> None:
    program = "import sys, fencepost.spark.source; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "fencepost.spark.source" in loaded
    heavy = {
        "fencepost.broker",
        "fencepost.server",
        "fencepost.journal",
        "numba",
        "pandas",
        "pyarrow.compute",
        "uvloop",
    }
    assert not loaded & heavy
