"""The driver is killed at every step; whatever starts after it finds out what happened and goes on: once, all of it."""

import signal
from pathlib import Path

import pytest

from fencepost.server.embedded import EmbeddedBroker
from fencepost.spark.sink.fail_points import FAIL_POINTS
from tests.spark.sink.driver_process import DriverProcess, check_no_repetition
from tests.spark.sink.streams import fill, lag, numbered

IN_TASKS = {"encode-task": {"driver", "executors"}, "publish-task": {"executors"}}
"""Points that a task reaches: its worker dies, and the driver lives."""
AFTER_A_FAILURE = {"before-abort", "after-abort"}


def arm(point: str) -> str:
    return f"published=raise,{point}=kill" if point in AFTER_A_FAILURE else f"{point}=kill"


def killed_at(points: list[str], folder: Path, mode: str) -> None:
    """One kill for each point, one after the other, each on top of what the one before left behind."""
    with (
        EmbeddedBroker(settings={"num.partitions": "3"}) as broker,
        DriverProcess(folder, broker.bootstrap_servers, starts=len(points) + 1, sink={"mode": mode}) as driver,
    ):
        servers = broker.bootstrap_servers
        expected: set[bytes] = set()
        for number, point in enumerate(points):
            rows = numbered(1000 * number, 1000 * (number + 1))
            expected |= {value for _, value in rows if value is not None}
            fill(servers, "in", rows)
            ended = driver.run(arm(point))
            assert point in ended.reached, f"{point} was never reached:\n{ended.output}"
            is_task = mode in IN_TASKS.get(point, ())
            assert ended.return_code == (0 if is_task else -signal.SIGKILL), ended.output
            check_no_repetition(servers, expected)
        ended = driver.run()
        assert ended.return_code == 0, ended.output
        assert check_no_repetition(servers, expected) == len(expected)
        assert lag(servers, "fencepost.default.driver", "in") == 0


@pytest.mark.shallow
@pytest.mark.parametrize(("mode", "points"), [("driver", ["after-commit"]), ("executors", ["publish-task"])])
def test_a_driver_killed_at_its_worst_moments_repeats_and_loses_nothing(
    tmp_path: Path, mode: str, points: list[str]
) -> None:
    killed_at(points, tmp_path, mode)


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_a_driver_killed_at_every_step_repeats_and_loses_nothing(tmp_path: Path, mode: str) -> None:
    killed_at(list(FAIL_POINTS), tmp_path, mode)
