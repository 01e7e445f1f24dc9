"""Faults that hit a task at its own points: it fails and is tried again, its transaction times out under it, the broker
dies under it. (A worker that is killed: `test_kills.py`.)
"""

import time
from pathlib import Path

import pytest

from tests.kill.killed_broker import KilledBroker
from tests.spark.sink.driver_process import DriverProcess, Ended, check_no_repetition
from tests.spark.sink.streams import fill, lag, numbered

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]

SETTINGS = {"num.partitions": "3", "transaction.abort.timed.out.transaction.cleanup.interval.ms": "50"}
REACHED_TIMEOUT_S = 300.0
SHORT = {"transaction_timeout_ms": 1000}


def retries(ended: Ended) -> int:
    return max(event["retry_count"] for event in ended.events)


class Story:
    def __init__(self, broker: KilledBroker, driver: DriverProcess) -> None:
        self.broker = broker
        self._driver = driver
        self._servers = broker.bootstrap_servers
        self._expected: set[bytes] = set()

    def run(self, fail_at: str, *, kills_broker: bool = False, sink: dict[str, object]) -> Ended:
        rows = numbered(len(self._expected), len(self._expected) + 1000)
        self._expected |= {value for _, value in rows if value is not None}
        fill(self._servers, "in", rows)
        process = self._driver.start(fail_at, sink=sink)
        if kills_broker:
            deadline_s = time.monotonic() + REACHED_TIMEOUT_S
            while not self._driver.log.exists() and process.poll() is None:
                assert time.monotonic() < deadline_s, "the point was not reached"
                time.sleep(0.05)
            self.broker.kill()
            self.broker.start()
        ended = self._driver.wait(process)
        assert ended.reached == [fail_at.split("=")[0]], f"{fail_at} was never reached:\n{ended.output}"
        assert ended.return_code == 0, ended.output
        assert check_no_repetition(self._servers, self._expected) == len(self._expected)
        assert lag(self._servers, "fencepost.default.driver", "in") == 0
        return ended


def test_a_task_that_fails_times_out_or_loses_its_broker_costs_a_retry_and_nothing_else(
    tmp_path: Path, mode: str
) -> None:
    with (
        KilledBroker(tmp_path / "data", seed=0, settings=SETTINGS) as broker,
        DriverProcess(tmp_path, broker.bootstrap_servers, starts=5) as driver,
    ):
        story = Story(broker, driver)
        assert retries(story.run("encode-task=raise", sink={"mode": mode})) == 0, "Spark has tried the task again"
        story.run("encode-task=stop:3", kills_broker=True, sink={"mode": mode})
        assert retries(story.run("publish-task=raise", sink={"mode": mode})) >= 1
        assert retries(story.run("publish-task=stop:4", sink={"mode": mode, **SHORT})) >= 1
        story.run("publish-task=stop:3", kills_broker=True, sink={"mode": mode})
