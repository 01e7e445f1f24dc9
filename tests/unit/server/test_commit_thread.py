"""What has ended is told once, on the loop: when the loop comes to it, or when somebody on it asks earlier."""

import asyncio
import threading
import time
from typing import cast

from fencepost.journal.journal import CommitGroup
from fencepost.server.threads import CommitThread

DEADLINE_S = 20.0


class Group:
    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def write_and_sync(self) -> None:
        self.thread = threading.current_thread()


def test_an_end_is_told_once_however_it_is_asked_for() -> None:
    told: list[tuple[CommitGroup, BaseException | None]] = []

    async def work() -> Group:
        committer, group = CommitThread(), Group()
        committer.commit(cast(CommitGroup, group), lambda done, problem, _: told.append((done, problem)))
        end = time.monotonic() + DEADLINE_S
        while not told:  # without giving the loop a turn
            assert time.monotonic() < end
            committer.collect()
        await asyncio.sleep(0.05)
        committer.collect()
        committer.stop()
        return group

    group = asyncio.run(work())
    assert told == [(group, None)]
    assert group.thread not in (None, threading.current_thread())


def test_the_loop_tells_by_itself() -> None:
    async def work() -> None:
        committer, ended = CommitThread(), asyncio.Event()
        committer.commit(cast(CommitGroup, Group()), lambda *_: ended.set())
        await asyncio.wait_for(ended.wait(), DEADLINE_S)
        committer.stop()

    asyncio.run(work())
