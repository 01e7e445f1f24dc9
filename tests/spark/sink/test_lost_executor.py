"""An executor is lost on a real cluster, with random values in the plan: what is written is one-to-one all the same."""

import time
from pathlib import Path

import pytest

from fencepost.lab.apache_kafka import SHORT_LIVED
from fencepost.server.embedded import EmbeddedBroker
from tests.spark.sink.driver_process import DriverProcess, check_no_repetition
from tests.spark.sink.streams import fill, lag, numbered
from tests.spark.standalone import StandaloneCluster

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]

EXECUTORS = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": " ".join(SHORT_LIVED)}
STOP_S = 20
REACHED_TIMEOUT_S = 300


@pytest.mark.parametrize(
    ("mode", "point"),
    [("executors", "pinned"), ("executors", "published"), ("executors", "encode-task"), ("driver", "encode-task")],
)
def test_a_lost_executor_costs_a_retry_and_nothing_else(tmp_path: Path, mode: str, point: str) -> None:
    rows = numbered(0, 4000)
    with (
        EmbeddedBroker(settings={"num.partitions": "4"}) as broker,
        StandaloneCluster(tmp_path / "cluster") as cluster,
        DriverProcess(
            tmp_path, broker.bootstrap_servers, master=cluster.master, per_trigger=2000, sink={"mode": mode}
        ) as driver,
    ):
        servers = broker.bootstrap_servers
        fill(servers, "in", rows)
        # The first micro-batch is empty: it pins where the source starts, and has no blocks to lose.
        armed = f"{point}=stop:{STOP_S}" + ("#2" if point == "pinned" else "")
        process = driver.start(armed, spark=EXECUTORS)
        deadline_s = time.monotonic() + REACHED_TIMEOUT_S
        while not driver.log.exists() and process.poll() is None and time.monotonic() < deadline_s:
            time.sleep(0.1)
        cluster.kill_executor()
        ended = driver.wait(process)
        assert ended.reached == [point], ended.output
        assert ended.return_code == 0, ended.output
        if point == "pinned":
            assert max(event["retry_count"] for event in ended.events) >= 1, "lost blocks cannot be published"
        assert check_no_repetition(servers, {value for _, value in rows if value is not None}) == len(rows)
        assert lag(servers, "fencepost.default.driver", "in") == 0
