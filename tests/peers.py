"""Apache Kafka for tests. `make kafka` fetches its jars; without them a test that needs them is skipped."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from fencepost.client import Admin
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.lab.apache_kafka import SHORT_LIVED, ApacheKafka

ROOT = Path(__file__).parents[1]
KAFKA_JARS = ROOT / ".peers" / "kafka-4.3.1"
JAVA_3_CLIENT_JARS = ROOT / ".peers" / "java-client-3.9.1"
SPARK_CONNECTOR_JARS = ROOT / ".peers" / "spark-connector-4.2.0"

INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")


def require_jars(folder: Path = KAFKA_JARS) -> Path:
    if (folder / ".fetched").exists() and shutil.which("java") and shutil.which("javac"):
        return folder
    pytest.skip(f"{folder.name}: no jars or no Java 17; run make kafka")


@contextmanager
def apache_kafka(settings: Mapping[str, str] | None = None) -> Iterator[ApacheKafka]:
    """One node that has its internal topics: Kafka makes them when it is first asked for a coordinator."""
    require_jars()
    with ApacheKafka(settings=settings, heap="512m", java_options=SHORT_LIVED) as broker:
        cluster = Cluster(broker.bootstrap_servers, ClientSettings())
        for kind in CoordinatorType:
            cluster.coordinator(kind, "any", Deadline(60))
        cluster.close()
        yield broker


def delete_topics(servers: str) -> None:
    """All that tests have made on a cluster that they share."""
    with Admin(servers) as admin:
        admin.delete_topics([topic for topic in admin.describe_topics() if topic not in INTERNAL_TOPICS])
