"""Apache Kafka's jars for tests. `make kafka` fetches them; without them a test that needs them is skipped."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KAFKA_JARS = ROOT / ".peers" / "kafka-4.3.1"
JAVA_3_CLIENT_JARS = ROOT / ".peers" / "java-client-3.9.1"
SPARK_CONNECTOR_JARS = ROOT / ".peers" / "spark-connector-4.2.0"


def require_jars(folder: Path = KAFKA_JARS) -> Path:
    if (folder / ".fetched").exists() and shutil.which("java") and shutil.which("javac"):
        return folder
    pytest.skip(f"{folder.name}: no jars or no Java 17; run make kafka")
