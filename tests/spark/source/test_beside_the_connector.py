"""Our source beside Spark's own connector: the same schema, the same rows, and a checkpoint that ours can continue."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.client import Producer
from fencepost.server.embedded import EmbeddedBroker
from tests.peers import ROOT, SPARK_CONNECTOR_JARS
from tests.spark.source import both_sources
from tests.spark.source.broker_use import create, numbered, run_transaction

TIMEOUT_S = 500


@pytest.mark.deep
@pytest.mark.kafka
def test_both_sources_have_the_same_schema_and_rows(broker: EmbeddedBroker, tmp_path: Path) -> None:
    if not (SPARK_CONNECTOR_JARS / ".fetched").exists():
        pytest.skip(f"{SPARK_CONNECTOR_JARS.name}: no jars; run make kafka")
    create(broker, "purchases", 3)
    with Producer(broker.bootstrap_servers, compression_type="zstd") as producer:
        for number in range(60):
            headers = [("trace", b"%d" % number), ("trace", None)][: number % 3]
            key, value = [None, b"", b"%d" % number][number % 3], [b"v" * number, None][number % 7 == 0]
            producer.send("purchases", key=key, value=value, headers=headers, timestamp_ms=1_700_000_000_000 + number)
        producer.flush()
    run_transaction(broker, "purchases", numbered("kept", 5))
    run_transaction(broker, "purchases", numbered("dropped", 5), commits=False)
    arguments = [broker.bootstrap_servers, "purchases", str(SPARK_CONNECTOR_JARS), str(tmp_path)]
    command = [sys.executable, "-m", both_sources.__name__, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["fencepost"]["schema"] == found["kafka"]["schema"]
    assert found["fencepost"]["rows"] == found["kafka"]["rows"]
    assert len(found["kafka"]["rows"]) == 65
    assert len(found["begun"]) == 65
    assert found["continued"] == []
