"""Apache Kafka's jars for tests: where they are, and what happens to a test that needs them when they are not here.

`make kafka` fetches them. Without them such a test is skipped, and says so; with `FENCEPOST_REQUIRE_KAFKA=1`, as in
`.ci/run`, it fails instead.
"""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KAFKA_JARS = ROOT / ".peers" / "kafka-4.3.1"
JAVA_3_CLIENT_JARS = ROOT / ".peers" / "java-client-3.9.1"
REQUIRE = "FENCEPOST_REQUIRE_KAFKA"


def require_jars(folder: Path = KAFKA_JARS) -> Path:
    if (folder / ".fetched").exists() and shutil.which("java") and shutil.which("javac"):
        return folder
    message = f"{folder.name}: no jars or no Java 17; run make kafka"
    if os.environ.get(REQUIRE, "0") not in ("", "0"):
        pytest.fail(message)
    pytest.skip(message)
