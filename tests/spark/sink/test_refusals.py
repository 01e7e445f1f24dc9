"""What the sink refuses and how it says so: other drivers, other stories, settings that allow no promise."""

import json
import logging
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from fencepost.client import Admin
from fencepost.server.embedded import EmbeddedBroker
from fencepost.settings import InvalidSetting
from fencepost.spark import TransactionalSink
from fencepost.spark.sink import fail_points
from fencepost.spark.sink.encode import ENCODED_DDL
from fencepost.spark.sink.errors import FencedByAnotherDriver, GaveUp, RefusedSetup
from fencepost.spark.sink.publish_task import PublishTask
from fencepost.spark.sink.transactional_sink import check_session
from tests.spark.sink.streams import copying_sink, drain, feed, files, fill, numbered, rows_of, source

SECRET = "hunter2-and-a-half"


def values(spark: SparkSession, end: int = 10) -> DataFrame:
    return spark.range(end).selectExpr("cast(id as string) value")


def test_an_earlier_driver_is_fenced_and_told_so(spark: SparkSession, servers: str, mode: str) -> None:
    with (
        TransactionalSink(servers, name="one", topic="out", mode=mode) as earlier,
        TransactionalSink(servers, name="one", topic="out", mode=mode) as later,
    ):
        earlier.write(values(spark), token="a")
        later.write(values(spark), token="b")
        with pytest.raises(FencedByAnotherDriver, match=r"another driver has taken over 'fencepost\.default\.one'"):
            earlier.write(values(spark), token="c")
        later.write(values(spark), token="d")
    assert rows_of(servers, "out").total() == 30


def test_two_sinks_of_one_name_in_one_query_are_found_out(spark: SparkSession, servers: str, tmp_path: Path) -> None:
    feed(tmp_path / "in", numbered(0, 10))
    first, second = copying_sink(servers), copying_sink(servers)

    class Both(TransactionalSink):
        def __init__(self) -> None:
            pass

        def __call__(self, batch_df: DataFrame, batch_id: int) -> None:
            first(batch_df, batch_id)
            second(batch_df, batch_id)

        def close(self) -> None:
            first.close()
            second.close()

    with pytest.raises(StreamingQueryException, match="two sinks of one name"):
        drain(files(spark, tmp_path / "in"), Both(), tmp_path / "checkpoint")
    assert rows_of(servers, "out") == Counter(numbered(0, 10))


def test_a_deleted_checkpoint_stops_the_query_and_can_be_resumed_from_the_ledger(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    fill(servers, "in", numbered(0, 100))
    drain(source(spark, servers, "in"), copying_sink(servers), tmp_path / "checkpoint")
    shutil.rmtree(tmp_path / "checkpoint")
    fill(servers, "in", numbered(100, 150))
    with pytest.raises(StreamingQueryException, match="belongs to another query"):
        drain(source(spark, servers, "in"), copying_sink(servers), tmp_path / "new")
    tokens = [json.loads(value) for _, value in rows_of(servers, "__fencepost_ledger.default.copy")]
    last = max(tokens, key=lambda token: token["batch_id"])["end"][0]["topics"]["in"]["partitions"]
    stream = source(spark, servers, "in", startingOffsets=json.dumps({"in": last}))
    drain(stream, copying_sink(servers, ledger="adopt"), tmp_path / "newer")
    assert rows_of(servers, "out") == Counter(numbered(0, 150))


def test_a_restored_checkpoint_stops_the_query(spark: SparkSession, servers: str, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    feed(tmp_path / "in", numbered(0, 10))
    drain(files(spark, tmp_path / "in"), copying_sink(servers), checkpoint)
    shutil.copytree(checkpoint, tmp_path / "old")
    for part in (1, 2):
        feed(tmp_path / "in", numbered(10 * part, 10 * (part + 1)))
        drain(files(spark, tmp_path / "in"), copying_sink(servers), checkpoint)
    with pytest.raises(StreamingQueryException, match="older than what was committed"):
        drain(files(spark, tmp_path / "in"), copying_sink(servers), tmp_path / "old")
    assert rows_of(servers, "out") == Counter(numbered(0, 30))


def test_a_ledger_that_could_lose_tokens_is_refused(spark: SparkSession, servers: str) -> None:
    with TransactionalSink(servers, name="kept", topic="out") as sink:
        sink.write(values(spark), token="a")
    with Admin(servers) as admin:
        admin.alter_topic_settings("__fencepost_ledger.default.kept", {"cleanup.policy": "delete"})
    with (
        TransactionalSink(servers, name="kept", topic="out") as sink,
        pytest.raises(RefusedSetup, match=r"cleanup\.policy=delete: expected 1 and compact"),
    ):
        sink.write(values(spark), token="b")


def test_a_timeout_that_the_broker_does_not_allow_is_explained(spark: SparkSession) -> None:
    with (
        EmbeddedBroker(settings={"transaction.max.timeout.ms": "5000"}) as broker,
        TransactionalSink(broker.bootstrap_servers, name="slow", topic="out") as sink,
        pytest.raises(RefusedSetup, match=r"transaction_timeout_ms=60000 .* transaction\.max\.timeout\.ms"),
    ):
        sink.write(values(spark), token="a")


def test_a_batch_that_keeps_failing_is_given_up_with_what_happened(
    spark: SparkSession, servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fail_points, "_armed", fail_points._parse("published=raise"))
    monkeypatch.setattr(fail_points, "_passed", {})
    with TransactionalSink(servers, name="tired", topic="out", max_retries=0) as sink:
        with pytest.raises(GaveUp, match=r"max_retries=0.*fail-point 'published'"):
            sink.write(values(spark), token="a")
        assert not rows_of(servers, "out")
        assert sink.write(values(spark), token="a")


def test_speculation_is_refused() -> None:
    context = SimpleNamespace(getConf=lambda: {"spark.speculation": "true"})
    with pytest.raises(RefusedSetup, match=r"spark\.speculation=true"):
        check_session(context)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "name=''"),
        ({"name": "no spaces"}, "name='no spaces'"),
        ({"name": "x", "namespace": "a/b"}, "namespace='a/b'"),
        ({"name": "x", "mode": "both"}, "mode='both'"),
        ({"name": "x", "ledger": "none"}, "ledger='none'"),
        ({"name": "x", "transactional_id": "mine"}, "transactional_id is the sink's own"),
        ({"name": "x", "compression": "zstd"}, "unknown setting 'compression'"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        TransactionalSink("127.0.0.1:9092", **arguments)


def test_secrets_appear_in_no_plan_no_log_and_no_text(
    spark: SparkSession, servers: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with TransactionalSink(
        servers, name="quiet", topic="out", sasl_username="u", sasl_password=SECRET, mode="executors"
    ) as sink:
        sink.write(values(spark), token="a")
        encoder = sink._layout.encoder(["out"])
        task = PublishTask(sink._options, "id", None, 1.0)
        encoded = values(spark).mapInArrow(encoder, ENCODED_DDL)
        plans = (
            encoded._jdf.queryExecution().toString() + encoded._jdf.queryExecution().debug().codegenToSeq().toString()
        )
    shown = [repr(encoder), str(encoder), repr(task), repr(sink), plans, caplog.text]
    assert not [text for text in shown if SECRET in text]
    assert dict(encoder.options.settings)["sasl_password"] == SECRET, "it does travel with the task"
