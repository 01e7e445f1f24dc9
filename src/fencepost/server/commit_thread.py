"""The thread that writes and syncs commit groups, so that a slow disk delays acknowledgements and nothing else.

One job at a time. A plain thread and queue instead of an executor: between a request and its acknowledgement lies
one commit, and the futures of an executor cost more than the rest of the way.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

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
