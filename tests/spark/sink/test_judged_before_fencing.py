"""A driver that can see that it is the wrong one is refused before it takes anything from the right one."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from fencepost.client import Admin
from fencepost.client.values import ProducerIdentity
from tests.spark.sink.streams import copying_sink, drain, feed, files, numbered, rows_of, run_to_end

TRANSACTIONAL_ID = "fencepost.default.copy"


def identity_of(servers: str) -> ProducerIdentity:
    with Admin(servers) as admin:
        found = admin.describe_transaction(TRANSACTIONAL_ID)
    assert found is not None
    return found.identity


def deleted(folder: Path) -> Path:
    return folder / "nothing-yet"


def restored(folder: Path) -> Path:
    """What was copied before the last micro-batch."""
    return folder / "copy"


@pytest.mark.parametrize(
    ("wrong", "message"), [(deleted, "belongs to another query"), (restored, "older than what was committed")]
)
def test_a_driver_with_a_wrong_checkpoint_is_refused_and_the_healthy_one_is_not_fenced(
    spark: SparkSession, servers: str, tmp_path: Path, wrong: Callable[[Path], Path], message: str
) -> None:
    checkpoint = tmp_path / "checkpoint"
    feed(tmp_path / "in", numbered(0, 10))
    drain(files(spark, tmp_path / "in"), copying_sink(servers), checkpoint)
    shutil.copytree(checkpoint, tmp_path / "copy")
    with copying_sink(servers) as healthy:
        for part in (1, 2):
            feed(tmp_path / "in", numbered(10 * part, 10 * (part + 1)))
            run_to_end(files(spark, tmp_path / "in"), healthy, checkpoint)
        before = identity_of(servers)
        with pytest.raises(StreamingQueryException, match=message):
            drain(files(spark, tmp_path / "in"), copying_sink(servers), wrong(tmp_path))
        assert identity_of(servers) == before, "nobody has taken over"
        feed(tmp_path / "in", numbered(30, 40))
        run_to_end(files(spark, tmp_path / "in"), healthy, checkpoint)
    assert rows_of(servers, "out") == Counter(numbered(0, 40))
