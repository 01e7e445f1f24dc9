"""Fetches that wait: until enough bytes are there, or until their time is up.

A fetch is parked at every partition that it reads. When one of them grows, the fetch is tried again; when its deadline
passes, it is answered with what there is.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from fencepost.broker.call import Call
from fencepost.broker.fetch_sessions import FetchContext
from fencepost.broker.partition_log import PartitionLog

DONE_KEPT_MAX = 64


@dataclass(slots=True, eq=False)
class ParkedFetch:
    call: Call
    context: FetchContext
    logs: list[PartitionLog]
    deadline_ms: int
    is_done: bool = False


class ParkedFetches:
    def __init__(self) -> None:
        self._by_deadline: list[tuple[int, int, ParkedFetch]] = []
        self._by_connection: dict[int, dict[ParkedFetch, None]] = {}
        self._tie_breaker = count()
        self._done_count = 0
        """Of the fetches in `_by_deadline` that were answered."""

    def park(self, fetch: ParkedFetch) -> None:
        heapq.heappush(self._by_deadline, (fetch.deadline_ms, next(self._tie_breaker), fetch))
        self._by_connection.setdefault(fetch.call.peer.connection_id, {})[fetch] = None
        for log in fetch.logs:
            log.parked[fetch] = None

    def __len__(self) -> int:
        """Those that were answered before their time are forgotten in bulk, so this may be twice what still waits."""
        return len(self._by_deadline)

    def release(self, fetch: ParkedFetch) -> None:
        if not fetch.is_done:
            fetch.is_done = True
            self._done_count += 1
            self._forget_done()
            self._unpark(fetch)

    def _forget_done(self) -> None:
        """A client may ask to wait for weeks, and be answered a thousand times a second."""
        if self._done_count > max(DONE_KEPT_MAX, len(self._by_deadline) // 2):
            self._by_deadline = [waiting for waiting in self._by_deadline if not waiting[2].is_done]
            heapq.heapify(self._by_deadline)
            self._done_count = 0

    def _unpark(self, fetch: ParkedFetch) -> None:
        fetch.is_done = True
        for log in fetch.logs:
            log.parked.pop(fetch, None)
        of_connection = self._by_connection.get(fetch.call.peer.connection_id)
        if of_connection is not None:
            of_connection.pop(fetch, None)
            if not of_connection:
                del self._by_connection[fetch.call.peer.connection_id]

    def release_connection(self, connection_id: int) -> None:
        """Its fetches can no longer be answered."""
        for fetch in list(self._by_connection.get(connection_id, ())):
            self.release(fetch)

    def waiting_for(self, logs: Iterable[PartitionLog]) -> list[ParkedFetch]:
        """The fetches that any of these partitions may complete, each once."""
        found: dict[ParkedFetch, None] = {}
        for log in logs:
            found |= log.parked
        return list(found)

    def take_due(self, now_ms: int) -> list[ParkedFetch]:
        due = []
        while self._by_deadline and (self._by_deadline[0][0] <= now_ms or self._by_deadline[0][2].is_done):
            fetch = heapq.heappop(self._by_deadline)[2]
            if fetch.is_done:
                self._done_count -= 1
            else:
                due.append(fetch)
        for fetch in due:
            self._unpark(fetch)
        return due

    @property
    def wake_at_ms(self) -> int | None:
        return self._by_deadline[0][0] if self._by_deadline else None
