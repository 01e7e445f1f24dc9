"""The cleaning thread: one piece of work after the other, begun and finished on the loop, run beside it."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from fencepost.errors import CorruptLog, FencepostError
from fencepost.journal.disk import DiskFull, SyncFailed
from fencepost.server.threads import CleaningThread


class Work:
    def __init__(self, problem: Exception | None = None) -> None:
        self.problem = problem
        self.thread_name = ""
        self.may_end = threading.Event()
        self.may_end.set()

    def run(self) -> None:
        self.thread_name = threading.current_thread().name
        self.may_end.wait(timeout=30)
        if self.problem is not None:
            raise self.problem


class Cleaner:
    """Stands for the core's: hands out what it is given."""

    def __init__(self, *works: Work) -> None:
        self.waiting = list(works)
        self.finished: list[tuple[Work, FencepostError | None]] = []
        self.all_done = asyncio.Event()

    @property
    def has_work(self) -> bool:
        return True

    def begin(self) -> Work | None:
        if not self.waiting:
            self.all_done.set()
            return None
        return self.waiting.pop(0)

    def finish(self, cleaning: Work, problem: FencepostError | None = None) -> None:
        assert threading.current_thread() is threading.main_thread()
        self.finished.append((cleaning, problem))


def thread_for(cleaner: Cleaner, failures: list[BaseException]) -> CleaningThread:
    def run(step: Callable[[], None]) -> None:
        step()

    return CleaningThread(cleaner, run=run, fail=failures.append)  # type: ignore[arg-type]


def test_all_work_is_run_on_one_other_thread_and_finished_on_the_loop() -> None:
    async def scenario() -> None:
        works = [Work(), Work(), Work()]
        cleaner = Cleaner(*works)
        thread = thread_for(cleaner, [])
        thread.start_next()
        await asyncio.wait_for(cleaner.all_done.wait(), 30)
        await thread.stop()
        assert cleaner.finished == [(work, None) for work in works]
        assert {work.thread_name for work in works} == {"fencepost-cleaning_0"}

    asyncio.run(scenario())


@pytest.mark.parametrize("problem", [DiskFull("no room"), CorruptLog("a bad frame")])
def test_what_can_be_put_off_is_given_back_to_the_core(problem: FencepostError) -> None:
    async def scenario() -> None:
        failures: list[BaseException] = []
        work = Work(problem)
        cleaner = Cleaner(work)
        thread = thread_for(cleaner, failures)
        thread.start_next()
        await asyncio.wait_for(cleaner.all_done.wait(), 30)
        await thread.stop()
        assert cleaner.finished == [(work, problem)]
        assert failures == []

    asyncio.run(scenario())


def test_a_failed_sync_stops_the_broker_and_nothing_is_finished() -> None:
    async def scenario() -> None:
        failures: list[BaseException] = []
        problem = SyncFailed("cannot sync")
        cleaner = Cleaner(Work(problem), Work())
        thread = thread_for(cleaner, failures)
        thread.start_next()
        await thread.stop()
        assert failures == [problem]
        assert cleaner.finished == []
        assert len(cleaner.waiting) == 1

    asyncio.run(scenario())


def test_stopping_waits_for_what_is_being_done_and_begins_nothing_new() -> None:
    async def scenario() -> None:
        running, never = Work(), Work()
        running.may_end.clear()
        cleaner = Cleaner(running, never)
        thread = thread_for(cleaner, [])
        thread.start_next()
        stopping = asyncio.ensure_future(thread.stop())
        await asyncio.sleep(0)
        assert not stopping.done()
        running.may_end.set()
        await asyncio.wait_for(stopping, 30)
        assert cleaner.finished == [(running, None)]
        assert cleaner.waiting == [never]

    asyncio.run(scenario())
