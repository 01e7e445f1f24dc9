"""The thread that rewrites sealed segments while the loop goes on.

What to do is taken from the core on the loop, done on the thread, and given back on the loop, one piece at a time. A
full disk or a damaged segment is the core's to put off; anything else that goes wrong stops the broker.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from fencepost.broker.cleaner import Cleaner
from fencepost.errors import CorruptLog
from fencepost.journal.cleaning import Cleaning
from fencepost.journal.disk import DiskFull


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
