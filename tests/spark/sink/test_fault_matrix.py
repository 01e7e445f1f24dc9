"""Every fault at every step that it can hit, in both ways to publish: in the end the output is f(input), and no lag.

A fault happens *at* a named fail-point of the driver, which stands still meanwhile. Faults follow each other on one
cluster, one checkpoint and one sink, each on top of what the one before left behind. What a task does at its own
points is in `test_task_faults.py`.
"""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from fencepost.client import Admin
from fencepost.spark import TransactionalSink
from fencepost.spark.sink import fail_points
from tests.kill.killed_broker import KilledBroker
from tests.spark.sink.driver_process import DriverProcess, check_no_repetition
from tests.spark.sink.driver_program import random_copies
from tests.spark.sink.streams import drain, fill, lag, numbered, source

pytestmark = pytest.mark.timeout(1800)

ROWS = 300
TIMEOUT_MS = 1000
STARTS_MAX = 3
AWAY_S = 2.0
WAIT_S = 120.0
SETTINGS = {"num.partitions": "3", "transaction.abort.timed.out.transaction.cleanup.interval.ms": "50"}
TRANSACTIONAL_ID = "fencepost.default.driver"

WITHOUT_TRANSACTION = ["pinned", "before-init", "after-init", "ledger-read", "before-publish"]
IN_TRANSACTION = ["published", "before-offsets", "offsets-sent", "token-sent"]
AFTER_A_FAILURE = ["before-abort", "after-abort"]
AFTER_THE_VERDICT = ["before-publish", "published", "token-sent"]
DRIVER_POINTS = [*WITHOUT_TRANSACTION, *IN_TRANSACTION, "after-commit", *AFTER_A_FAILURE]


class Story:
    """One cluster, one checkpoint, one name: what is written into `in` must come out once, whatever happens."""

    def __init__(self, spark: SparkSession, broker: KilledBroker, folder: Path, mode: str) -> None:
        self.broker = broker
        self.servers = broker.bootstrap_servers
        self.checkpoint = folder / "checkpoint"
        self.expected: set[bytes] = set()
        self._spark = spark
        self._mode = mode

    def more(self) -> None:
        rows = numbered(len(self.expected), len(self.expected) + ROWS)
        fill(self.servers, "in", rows)
        self.expected |= {value for _, value in rows if value is not None}

    def run(self, checkpoint: Path | None = None, **options: int) -> None:
        stream = source(self._spark, self.servers, "in", maxOffsetsPerTrigger=ROWS)
        sink = TransactionalSink(self.servers, name="driver", transform=random_copies, mode=self._mode, **options)
        drain(stream, sink, checkpoint or self.checkpoint)

    def run_whatever_happens(self, **options: int) -> None:
        """A query that fails is started again, as whoever looks after it would."""
        for _ in range(STARTS_MAX):
            try:
                self.run(**options)
            except StreamingQueryException as problem:
                failure = problem
            else:
                return
        raise failure

    def check_so_far(self) -> int:
        return check_no_repetition(self.servers, self.expected)

    def check_end(self) -> None:
        """Restart, drain, audit."""
        self.run()
        assert self.check_so_far() == len(self.expected)
        assert lag(self.servers, TRANSACTIONAL_ID, "in") == 0


@pytest.fixture
def story(spark: SparkSession, tmp_path: Path, mode: str) -> Iterator[Story]:
    with KilledBroker(tmp_path / "data", seed=0, settings=SETTINGS) as broker:
        yield Story(spark, broker, tmp_path, mode)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], None]], list[str]]:
    """Let something happen while the driver stands still at a point. Returns a list that names the point when it
    has.
    """

    def arm(point: str, happen: Callable[[], None]) -> list[str]:
        reached: list[str] = []

        def stand_still(_: float) -> None:
            reached.append(point)
            happen()

        failed_before = "published=raise," if point in AFTER_A_FAILURE else ""
        monkeypatch.setattr(fail_points, "_armed", fail_points._parse(f"{failed_before}{point}=stop:0"))
        monkeypatch.setattr(fail_points, "_passed", {})
        monkeypatch.setattr(fail_points, "time", SimpleNamespace(sleep=stand_still))
        return reached

    return arm


def hit(story: Story, at, points: Sequence[str], fault: Callable[[Story], None], **options: int) -> None:
    story.more()
    story.run()
    for point in points:
        story.more()
        reached = at(point, lambda: fault(story))
        story.run_whatever_happens(**options)
        assert reached == [point], f"{point} was never reached"
        assert story.check_so_far() == len(story.expected), point
    story.check_end()


def kill_broker(story: Story) -> None:
    story.broker.kill()
    story.broker.start()


def let_time_out(story: Story) -> None:
    """Until the coordinator has aborted what this driver believes open."""
    deadline_s = time.monotonic() + WAIT_S
    with Admin(story.servers) as admin:
        found = admin.describe_transaction(TRANSACTIONAL_ID)
        assert found is not None
        assert found.state == "Ongoing"
        while found is not None and found.state == "Ongoing":
            assert time.monotonic() < deadline_s, "the coordinator has not aborted it"
            time.sleep(0.05)
            found = admin.describe_transaction(TRANSACTIONAL_ID)


def fail(_: Story) -> None:
    raise fail_points.FailPointReached("a failure at this point")


FAULTS = {
    "broker-killed": (kill_broker, DRIVER_POINTS, {}),
    "timed-out": (let_time_out, IN_TRANSACTION, {"transaction_timeout_ms": TIMEOUT_MS}),
    "failure": (fail, [*WITHOUT_TRANSACTION, *IN_TRANSACTION, "after-commit"], {}),
}
WORST = [
    ("broker-killed", "driver", ["token-sent", "after-commit"]),
    ("timed-out", "executors", ["token-sent"]),
]


@pytest.mark.shallow
@pytest.mark.parametrize(("fault", "mode", "points"), WORST)
def test_a_fault_at_the_worst_moments_loses_and_repeats_nothing(
    story: Story, at, fault: str, points: list[str]
) -> None:
    happen, _, options = FAULTS[fault]
    hit(story, at, points, happen, **options)


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_every_step_loses_and_repeats_nothing(story: Story, at, fault: str) -> None:
    happen, points, options = FAULTS[fault]
    hit(story, at, points, happen, **options)


@pytest.mark.parametrize("mode", ["driver"])
@pytest.mark.parametrize("point", ["pinned", "published"])
def test_a_broker_that_is_away_for_a_while_is_waited_for(story: Story, at, point: str) -> None:
    """Before the first identity and with one: a retry would be over before the broker is back."""
    story.more()
    comes_back = threading.Timer(AWAY_S, story.broker.start)

    def goes_away() -> None:
        story.broker.kill()
        comes_back.start()

    reached = at(point, goes_away)
    story.run()
    assert reached == [point], f"{point} was never reached"
    comes_back.join()
    story.check_end()


@pytest.mark.parametrize("mode", ["driver", pytest.param("executors", marks=pytest.mark.deep)])
def test_a_deleted_and_a_restored_checkpoint_write_nothing_and_the_right_one_goes_on(
    story: Story, tmp_path: Path
) -> None:
    story.more()
    story.run()
    shutil.copytree(story.checkpoint, tmp_path / "old")
    for _ in range(2):
        story.more()
        story.run()
    story.more()
    for wrong, message in [("deleted", "belongs to another query"), ("old", "older than what was committed")]:
        with pytest.raises(StreamingQueryException, match=message):
            story.run(tmp_path / wrong)
        assert story.check_so_far() == len(story.expected) - ROWS
    story.check_end()


@pytest.mark.deep
def test_a_second_driver_fences_the_first_wherever_it_stands(story: Story, at, tmp_path: Path, mode: str) -> None:
    """One that has the same checkpoint, while the first stands still: what a cluster manager starts too early."""
    with DriverProcess(tmp_path, story.servers, starts=len(AFTER_THE_VERDICT), sink={"mode": mode}) as other:
        story.more()
        story.run()
        for point in AFTER_THE_VERDICT:
            story.more()
            ended = []
            reached = at(point, lambda: ended.append(other.run()))  # noqa: B023 - it runs before the loop goes on
            with pytest.raises(StreamingQueryException, match="another driver has taken over"):
                story.run()
            assert reached == [point], f"{point} was never reached"
            assert ended[0].return_code == 0, ended[0].output
            assert story.check_so_far() == len(story.expected), "the second has done all of it"
        story.check_end()
