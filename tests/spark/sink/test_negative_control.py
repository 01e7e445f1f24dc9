"""The harness bites: with Spark's own sink the same kill at the same place repeats records; with ours it does not."""

import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fencepost.client import Admin, TopicPartition
from fencepost.server.embedded import EmbeddedBroker
from tests.peers import SPARK_CONNECTOR_JARS, require_jars
from tests.spark.sink.driver_process import DriverProcess
from tests.spark.sink.driver_program import SLOW_VALUE
from tests.spark.sink.streams import fill, numbered, rows_of

pytestmark = [pytest.mark.deep, pytest.mark.kafka, pytest.mark.timeout(1800)]

ROWS = numbered(0, 1000)
WRITTEN_AND_NOT_TOLD = "after-commit=kill#2"


def seen_after_a_kill(folder: Path, servers: str, **options: Any) -> Counter[bytes]:
    """How often each input value is on the output, after a driver that died once and another that came to its end."""
    fill(servers, "in", ROWS)
    with DriverProcess(folder, servers, **options) as driver:
        ended = driver.run(WRITTEN_AND_NOT_TOLD)
        assert ended.reached == ["after-commit"], ended.output
        assert ended.return_code == -signal.SIGKILL, ended.output
        ended = driver.run()
        assert ended.return_code == 0, ended.output
    return values_seen(servers)


def values_seen(servers: str) -> Counter[bytes]:
    return Counter(value.split(b"|")[0] for _, value in rows_of(servers, "out").elements() if value is not None)


def connector_jars() -> str:
    return ",".join(str(path) for path in sorted(require_jars(SPARK_CONNECTOR_JARS).glob("*.jar")))


def test_sparks_own_sink_repeats_records_after_a_kill_and_ours_does_not(tmp_path: Path) -> None:
    jars = connector_jars()
    expected = {value for _, value in ROWS}
    seen = {}
    for name, options in {"ours": {}, "control": {"connector": True, "spark": {"spark.jars": jars}}}.items():
        (tmp_path / name).mkdir()
        with EmbeddedBroker(settings={"num.partitions": "3"}) as broker:
            seen[name] = seen_after_a_kill(tmp_path / name, broker.bootstrap_servers, **options)
        assert set(seen[name]) == expected, f"{name}: nothing is lost"
    assert set(seen["ours"].values()) == {1}
    repeated = [value for value, count in seen["control"].items() if count > 1]
    assert len(repeated) > 0
    assert set(seen["control"].values()) == {1, 2}, "the micro-batch that was written before the kill, again"


def test_sparks_own_streaming_sink_repeats_what_a_killed_driver_had_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`writeStream.format("kafka")`: one task has written its records, another is slow, and the driver dies."""
    slow_value = ROWS[0][1]
    assert slow_value is not None
    with EmbeddedBroker(settings={"num.partitions": "3"}) as broker:
        servers = broker.bootstrap_servers
        fill(servers, "in", ROWS)
        options = {"connector": "stream", "per_trigger": len(ROWS), "spark": {"spark.jars": connector_jars()}}
        with DriverProcess(tmp_path, servers, **options) as driver, Admin(servers) as admin:
            admin.create_topic("out", 1, 1)
            out = TopicPartition("out", 0)
            with monkeypatch.context() as slow:
                slow.setenv(SLOW_VALUE, slow_value.decode())
                process = driver.start()
            while not admin.latest_offsets([out])[out]:
                assert process.poll() is None, "it is slower than any patience here"
                time.sleep(0.1)
            process.kill()
            assert driver.wait(process).return_code == -signal.SIGKILL
            written = values_seen(servers)
            assert slow_value not in written
            ended = driver.run()
            assert ended.return_code == 0, ended.output
        seen = values_seen(servers)
    assert set(seen) == {value for _, value in ROWS}, "nothing is lost"
    repeated = {value for value, count in seen.items() if count > 1}
    assert set(written) <= repeated, "what was written before the kill is written again"
    assert written
