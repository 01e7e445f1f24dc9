"""The journal cut after every disk operation, under every crash model; and recovery cut after every one of its own."""

import pytest

from fencepost.lab.simulated_disk import CrashModel
from tests.crash.explorer import Exploration

CRASH_POINTS_MIN = 8_500
"""Different disks, each checked; the same disk at the same moment is not checked twice."""
WORKLOADS = (1, 2)


@pytest.mark.parametrize("workload_seed", WORKLOADS)
def test_no_crash_loses_or_invents_anything(workload_seed: int, crash_points: dict[str, int]) -> None:
    exploration = Exploration(
        workload_seed, {CrashModel.KILLED: 1, CrashModel.POWER_LOST: 4, CrashModel.TORN: 3}, recovery_stride=50
    )
    crash_points[f"journal workload {workload_seed}"] = exploration.run()


def test_no_second_crash_inside_recovery_changes_anything(crash_points: dict[str, int]) -> None:
    exploration = Exploration(4, dict.fromkeys(CrashModel, 0), recovery_stride=9)
    crash_points["journal recovery"] = exploration.run()


def test_the_explorations_pass_through_enough_crash_points(crash_points: dict[str, int]) -> None:
    counts = [count for name, count in crash_points.items() if name.startswith("journal")]
    if len(counts) < len(WORKLOADS) + 1:
        pytest.skip("counts the points of the whole file")
    assert sum(counts) >= CRASH_POINTS_MIN
