"""Sealed segments whose files are open: the most recently used ones, because a process may open only so many."""

from typing import Protocol

OPEN_SEGMENTS_MAX = 128


class Closeable(Protocol):
    is_pinned: bool

    def close(self) -> None: ...


class RecentlyUsed:
    def __init__(self, limit: int = OPEN_SEGMENTS_MAX) -> None:
        self._limit = limit
        self._segments: dict[Closeable, None] = {}

    def touch(self, segment: Closeable) -> None:
        """Remember a use, and close what was not used for longest."""
        self._segments.pop(segment, None)
        self._segments[segment] = None
        if len(self._segments) > self._limit:
            oldest = next((s for s in self._segments if not s.is_pinned), segment)
            if oldest is not segment:
                del self._segments[oldest]
                oldest.close()

    def forget(self, segment: Closeable) -> None:
        self._segments.pop(segment, None)
