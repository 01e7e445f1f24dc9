"""Fail-points fire at their turn, once for all processes, and are told of."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.errors import FencepostError
from fencepost.spark.sink import fail_points
from fencepost.spark.sink.fail_points import FAIL_AT, FAIL_LOG, FAIL_POINTS, FailPointReached, fail_point


@pytest.fixture
def armed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def arm(text: str) -> Path:
        monkeypatch.setattr(fail_points, "_armed", fail_points._parse(text))
        monkeypatch.setattr(fail_points, "_passed", {})
        monkeypatch.setenv(FAIL_LOG, str(tmp_path / "log"))
        return tmp_path / "log"

    return arm


def test_an_armed_point_raises_at_its_turn_and_is_told_of(armed) -> None:
    log = armed("pinned=raise#3,published=raise")
    for _ in range(2):
        fail_point("pinned")
    assert not log.exists()
    with pytest.raises(FailPointReached):
        fail_point("pinned")
    fail_point("pinned")
    assert log.read_text() == f"pinned raise {os.getpid()}\n"


def test_a_point_fails_in_one_process_only(armed) -> None:
    log = armed("pinned=raise")
    (log.parent / "log.pinned").touch()
    fail_point("pinned")
    assert not log.exists()


def test_a_kill_is_a_kill(tmp_path: Path) -> None:
    environment = os.environ | {FAIL_AT: "pinned=kill", FAIL_LOG: str(tmp_path / "log")}
    program = "from fencepost.spark.sink.fail_points import fail_point; fail_point('pinned')"
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "log").read_text().startswith("pinned kill ")


@pytest.mark.parametrize("text", ["nowhere=kill", "pinned=faint", "pinned", "pinned=kill,nowhere=raise"])
def test_a_point_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(FencepostError, match=FAIL_AT):
        fail_points._parse(text)


def test_every_point_is_reached_by_the_code_and_named_in_the_table() -> None:
    folder = Path(fail_points.__file__).parent
    text = "".join(path.read_text() for path in folder.glob("*.py"))
    assert {name for name in FAIL_POINTS if f'fail_point("{name}")' in text} == set(FAIL_POINTS)
