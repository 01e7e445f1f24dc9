"""What may be loaded when a room is imported. Contracts see arrows; only a process sees what really loads."""

import subprocess
import sys

import pytest


def modules_loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "heavy", ["fencepost.broker", "fencepost.server", "numpy", "pyarrow", "numba", "kio", "pyspark"]
)
def test_importing_fencepost_loads_nothing_heavy(heavy: str) -> None:
    assert heavy not in modules_loaded_by("import fencepost")


@pytest.mark.parametrize("heavy", ["fencepost.broker", "fencepost.server", "numpy", "pyarrow", "numba"])
def test_the_client_loads_neither_the_broker_nor_arrow(heavy: str) -> None:
    assert heavy not in modules_loaded_by("from fencepost.client import Consumer, Producer")


def test_the_probe_sees_what_is_loaded() -> None:
    assert "fencepost.errors" in modules_loaded_by("import fencepost.errors")
