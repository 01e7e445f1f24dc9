"""Which batches of a fetched range a reader gets: pure, and the same for records and for Arrow.

A `read_committed` answer names the aborted transactions that reach into it, as (producer id, first offset). Walking
through the batches in order, a transaction is open from its first offset to its ABORT marker; its batches are skipped.
Markers are never delivered, at any isolation level. The state belongs to one answer: the broker repeats in the next one
what still matters there. Naming too many transactions is harmless, so entries that nothing comes of are fine.
"""

import heapq
from collections.abc import Iterable

from fencepost.records.control import read_marker
from fencepost.records.header import BatchHeader


class FetchFilter:
    """Called with every batch in order; True says that the batch is not for the reader."""

    __slots__ = ("_aborting", "_coming")

    def __init__(self, aborted_transactions: Iterable[tuple[int, int]] | None = None) -> None:
        """`aborted_transactions` as (producer id, first offset); None reads what was not committed too."""
        self._coming = [(first_offset, producer_id) for producer_id, first_offset in aborted_transactions or ()]
        heapq.heapify(self._coming)
        self._aborting: set[int] = set()

    def copy(self) -> "FetchFilter":
        """Another one in the same state."""
        other = FetchFilter()
        other._coming, other._aborting = self._coming.copy(), self._aborting.copy()
        return other

    def __call__(self, header: BatchHeader, batch: memoryview) -> bool:
        if header.producer_id < 0:
            return header.is_control
        while self._coming and self._coming[0][0] <= header.last_offset:
            self._aborting.add(heapq.heappop(self._coming)[1])
        if header.is_control:
            if header.producer_id in self._aborting and _is_abort(batch):
                self._aborting.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._aborting


def _is_abort(batch: memoryview) -> bool:
    marker = read_marker(batch)
    return marker is not None and not marker.is_commit
