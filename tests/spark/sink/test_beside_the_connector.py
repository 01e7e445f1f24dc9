"""Spark's own connector reads what our sink wrote and the other way round: the same records, keys on the same
partitions.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fencepost.client import Admin
from tests.peers import ROOT, SPARK_CONNECTOR_JARS, require_jars
from tests.spark.sink import both_sinks

pytestmark = [pytest.mark.deep, pytest.mark.kafka, pytest.mark.timeout(1800)]

TIMEOUT_S = 900
PARTITIONS = 6


def encoded(part: bytes | None) -> str | None:
    return None if part is None else part.hex().upper()


def expected() -> Counter[tuple[Any, ...]]:
    """Key, value, headers. Kafka does not tell no headers from none at all."""
    rows = (both_sinks.row(number) for number in range(both_sinks.ROW_COUNT))
    return Counter(
        (
            encoded(key),
            encoded(value),
            tuple(f"{name}={encoded(content) if content is not None else 'null'}" for name, content in headers or ()),
        )
        for key, value, headers in rows
    )


def test_what_one_writes_the_other_reads_with_keys_on_the_same_partitions(cluster: str, tmp_path: Path) -> None:
    jars = require_jars(SPARK_CONNECTOR_JARS)
    with Admin(cluster) as admin:
        for topic in both_sinks.TOPICS:
            admin.create_topic(topic, PARTITIONS)
    command = [sys.executable, "-m", both_sinks.__name__, cluster, str(jars), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])

    places = {}
    for place, texts in found.items():
        rows = [json.loads(text) for text in texts]
        records = ((row.get("key"), row.get("value"), tuple(row.get("headers") or ())) for row in rows)
        assert Counter(records) == expected(), place
        places[place] = {(row["key"], row["partition"]) for row in rows if "key" in row}
    assert len(places) == 16
    chosen = places["theirs in batch by kafka"]
    assert len({partition for _, partition in chosen}) == PARTITIONS, "keys are spread"
    assert len(chosen) == len({key for key, _ in chosen}), "a key has one partition"
    assert all(other == chosen for other in places.values()), "our partitioner is Java's"
