"""The thread that writes and syncs commit groups, so that a slow disk delays acknowledgements and nothing else.

One job at a time. A plain thread and queue instead of an executor: between a request and its acknowledgement lies
one commit, and the futures of an executor cost more than the rest of the way.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue

from fencepost.broker.cleaner import Cleaner
from fencepost.errors import CorruptLog
from fencepost.journal.cleaning import Cleaning
from fencepost.journal.disk import DiskFull
from fencepost.journal.journal import CommitGroup

Done = Callable[[CommitGroup, BaseException | None, float], None]
"""Called on the loop with the group, what went wrong, and how many seconds it took."""


class CommitThread:
    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[CommitGroup, Done] | None] = SimpleQueue()
        self._ended: deque[Callable[[], None]] = deque()
        self._thread: threading.Thread | None = None

    def commit(self, group: CommitGroup, done: Done) -> None:
        """Call it on the loop. The first one starts the thread."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._work, args=(loop,), name="fencepost-journal", daemon=True)
            self._thread.start()
        self._jobs.put((group, done))

    def collect(self) -> None:
        """Call back for what has ended by now. The loop does so by itself when it comes to it."""
        while self._ended:
            self._ended.popleft()()

    def stop(self) -> None:
        """Returns when the thread has ended; nothing may be in flight."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while (job := self._jobs.get()) is not None:
            group, done = job
            problem: BaseException | None = None
            began = time.perf_counter()
            try:
                group.write_and_sync()
            except BaseException as caught:  # noqa: BLE001 - the loop decides what it means
                problem = caught
            self._ended.append(partial(done, group, problem, time.perf_counter() - began))
            loop.call_soon_threadsafe(self.collect)


# The thread that rewrites sealed segments while the loop goes on.
#
# What to do is taken from the core on the loop, done on the thread, and given back on the loop, one piece at a time. A
# full disk or a damaged segment is the core's to put off; anything else that goes wrong stops the broker.


class CleaningThread:
    """`run` runs one step of the core, `fail` stops the broker."""

    def __init__(
        self,
        cleaner: Cleaner,
        *,
        run: Callable[[Callable[[], None]], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self._cleaner = cleaner
        self._run = run
        self._fail = fail
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fencepost-cleaning")
        self._in_flight: asyncio.Future[None] | None = None
        self._is_stopping = False

    def start_next(self) -> None:
        """Begin the next piece of work if there is one and nothing is being done."""
        if self._in_flight is None and not self._is_stopping and self._cleaner.has_work:
            self._run(self._begin)

    def _begin(self) -> None:
        cleaning = self._cleaner.begin()
        if cleaning is not None:
            self._in_flight = asyncio.get_running_loop().run_in_executor(self._thread, cleaning.run)
            self._in_flight.add_done_callback(lambda done: self._done(cleaning, done))

    def _done(self, cleaning: Cleaning, done: "asyncio.Future[None]") -> None:
        self._in_flight = None
        problem = done.exception()
        if problem is None or isinstance(problem, DiskFull | CorruptLog):
            self._run(lambda: self._cleaner.finish(cleaning, problem))
            self.start_next()
        else:
            self._fail(problem)

    async def stop(self) -> None:
        """What is being done is done to its end; nothing new is begun."""
        self._is_stopping = True
        if self._in_flight is not None:
            await asyncio.wait([self._in_flight])
        self._thread.shutdown(wait=True)
