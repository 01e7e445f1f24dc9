"""`transformWithState` through `fencepost run`: state and output right after kills; what it needs is told before."""

import json
import signal
import sys

import pytest

from fencepost.pipelines import state as processors
from fencepost.pipelines.pipeline import InvalidPipeline
from fencepost.pipelines.state import STATE_STORE, shape_of, state_store
from fencepost.spark.sink.fail_points import FAIL_AT, FAIL_LOG
from tests.spark.pipelines.running import Run
from tests.spark.pipelines.use import as_bytes, create, lag, one, read, write

pytestmark = pytest.mark.timeout(3600)
ACCOUNTS = 7


def debits(count):
    """Account n pays n * 100 each time: over 1000 in the end, at its own time, or never."""
    return [
        (
            b"a%d" % n,
            as_bytes({"transfer": f"{turn}-{n}", "account": f"a{n}", "kind": "debit", "amount": n * 100}),
        )
        for turn in range(count)
        for n in range(ACCOUNTS)
    ]


def alerts_of(servers):
    return sorted(json.loads(value)["account"] for _, value in read(servers, "account-alerts"))


def over(turns):
    return sorted(f"a{n}" for n in range(ACCOUNTS) if n * 100 * turns > 1000)


@pytest.mark.deep
@pytest.mark.parametrize("point", ["after-commit"])
def test_every_alert_is_written_once_though_the_driver_was_killed(servers, tmp_path, monkeypatch, point):
    create(servers, "balance-update")
    write(servers, "balance-update", debits(2))
    with Run("alerts.py", servers, tmp_path, "--once") as run:
        assert run.wait_for_end() == 0, run.story()
    assert alerts_of(servers) == over(2)

    write(servers, "balance-update", debits(1))
    log = tmp_path / "reached"
    with monkeypatch.context() as armed:
        armed.setenv(FAIL_AT, f"{point}=kill")
        armed.setenv(FAIL_LOG, str(log))
        with Run("alerts.py", servers, tmp_path, "--once") as run:
            assert run.wait_for_end() == -signal.SIGKILL, run.story()
    assert log.read_text().startswith(f"{point} kill ")

    write(servers, "balance-update", [*debits(1), (b"x", b"no update")])
    with Run("alerts.py", servers, tmp_path, "--once") as run:
        assert run.wait_for_end() == 0, run.story()
    assert alerts_of(servers) == over(4)
    assert set(over(2)) < set(over(3)) < set(over(4)), "an alert falls into every part"
    assert read(servers, "alerts.dead-letters") == [(b"x", b"no update")]
    assert lag(servers, "balance-update", "fencepost.default.alerts") == 0


def test_a_missing_package_is_told_before_anything_starts(spark, monkeypatch):
    monkeypatch.setitem(sys.modules, processors.MESSAGES, None)
    with pytest.raises(InvalidPipeline, match=r"'alerts' uses transformWithState.*pip install 'protobuf"):
        shape_of(spark, one("alerts"))


def test_a_query_that_keeps_its_own_state_keeps_it_in_rocksdb_and_others_do_not(spark):
    before = spark.conf.get(STATE_STORE)
    with state_store(spark, ("TransformWithStateInPySpark",)):
        assert "RocksDB" in spark.conf.get(STATE_STORE)
    with state_store(spark, ("Aggregate",)):
        assert spark.conf.get(STATE_STORE) == before
    assert spark.conf.get(STATE_STORE) == before


COUNTS = """
from fencepost.pipelines import pipeline

@pipeline(name="counts", reads="words", writes="counts", output_mode="update",
          options={"spark.sql.streaming.stateStore.providerClass":
                   "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"})
def counts(words):
    return words.groupBy("value").count().selectExpr("value as key", "cast(count as string) as value")
"""


@pytest.mark.deep
def test_a_pipeline_may_ask_for_rocksdb_and_its_state_lives_on(servers, tmp_path):
    (tmp_path / "counts.py").write_text(COUNTS)
    create(servers, "words", partitions=1)
    for turn in (1, 2):
        write(servers, "words", [(None, b"a"), (None, b"b"), (None, b"a")])
        with Run(str(tmp_path / "counts.py"), servers, tmp_path, "--once") as run:
            assert run.wait_for_end() == 0, run.story()
        assert dict(read(servers, "counts")) == {b"a": b"%d" % (2 * turn), b"b": b"%d" % turn}
    assert list((tmp_path / "checkpoint").rglob("*.zip")), "what RocksDB uploads"
