"""The examples with pandas and polars: they run, and what they write is exact."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_example(library: str, *arguments: str) -> str:
    pytest.importorskip(library, reason=f"{library} is not installed: pip install {library}")
    command = [sys.executable, "-m", f"examples.arrow.with_{library}", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(output: str) -> None:
    """Every reading was counted once, however the batches fell."""
    assert "sent 30000 readings" in output
    assert "read 30000 readings" in output
    counts: Counter[str] = Counter()
    for sensor, count in re.findall(r"(attic|cellar|garden)\s.*?[\d.]+ of (\d+)", output):
        counts[sensor] += int(count)
    assert counts == {"attic": 10_000, "cellar": 10_000, "garden": 10_000}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_readings_are_averaged_exactly_once_with_frames(library: str) -> None:
    check(run_example(library))


@pytest.mark.kafka
def test_the_same_runs_on_apache_kafka(kafka_servers: str) -> None:
    check(run_example("pandas", "--bootstrap-servers", kafka_servers))
