"""A segment that is complete: read-only, found through its index, replaced as a whole by cleaning.

Files are opened, and the index mapped, when they are first read; start-up needs neither. They are closed again when
many other segments have been asked since.
"""

from bisect import bisect_left
from operator import attrgetter
from typing import Protocol

from fencepost.errors import invariant
from fencepost.journal.disk import Disk, DiskFile
from fencepost.journal.frames import checksum_seed
from fencepost.journal.index_file import IndexHead, IndexRows, map_rows, read_index_head
from fencepost.journal.rows import Row
from fencepost.journal.segment_header import SegmentHeader, index_name, segment_name
from fencepost.journal.segment_scan import rebuild_index

OPEN_SEGMENTS_MAX = 128
_BATCH_BYTES_MIN = 61


class Closeable(Protocol):
    is_pinned: bool

    def close(self) -> None: ...


class RecentlyUsed:
    """Segments whose files are open: a process may open only so many."""

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


class SealedSegment:
    def __init__(self, disk: Disk, header: SegmentHeader, head: IndexHead, recently_used: RecentlyUsed) -> None:
        self.header = header
        self.seed = checksum_seed(header.salt)
        self.head = head
        self.is_pinned = False
        self._disk = disk
        self._recently_used = recently_used
        self._file: DiskFile | None = None
        self._rows: IndexRows | None = None

    @property
    def name(self) -> str:
        return segment_name(self.header.first_position)

    @property
    def first_position(self) -> int:
        return self.header.first_position

    @property
    def last_position(self) -> int:
        return self.head.last_position

    @property
    def end_place(self) -> int:
        return self.head.end_place

    @property
    def file(self) -> DiskFile:
        self._recently_used.touch(self)
        if self._file is None:
            self._file = self._disk.open(self.name)
        return self._file

    def open_file(self) -> DiskFile:
        """For who reads the segment over a longer time, and closes the file then."""
        return self._disk.open(self.name)

    @property
    def rows(self) -> IndexRows:
        self._recently_used.touch(self)
        if self._rows is None:
            rows = self._map_rows()
            if rows is None:
                self.head = rebuild_index(self._disk, self.file, self.header)
                rows = self._map_rows()
            invariant(rows is not None, "an index that was just rebuilt is good")
            self._rows = rows
        assert self._rows is not None
        return self._rows

    def _map_rows(self) -> IndexRows | None:
        try:
            file = self._disk.open(index_name(self.first_position))
        except FileNotFoundError:
            return None
        rows = map_rows(file, self.head)
        file.close()
        return rows

    def pin(self) -> None:
        """Open both files now and keep them: their names may soon stand for other ones."""
        self.is_pinned = True
        _ = self.file, self.rows

    def unpin(self) -> None:
        self.is_pinned = False

    def select(self, partition_ref: int, *, start_offset: int, end_offset: int, max_bytes: int) -> list[Row]:
        """As `reading.Source` says."""
        rows = self.rows
        start, end = rows.find(partition_ref, start_offset)
        end = min(end, start + max(0, max_bytes) // _BATCH_BYTES_MIN + 1)
        found = rows.rows(start, end)
        if found and found[-1].last_offset >= end_offset:
            del found[bisect_left(found, end_offset, key=attrgetter("last_offset")) :]
        return found

    def close(self) -> None:
        self._recently_used.forget(self)
        self._rows = None
        if self._file is not None:
            self._file.close()
        self._file = None


def read_fitting_head(disk: Disk, header: SegmentHeader, names: set[str]) -> IndexHead | None:
    """The head of a segment's index, or None if there is no index that fits the segment."""
    name = index_name(header.first_position)
    if name not in names:
        return None
    file = disk.open(name)
    head = read_index_head(file)
    file.close()
    if head is None or (head.salt, head.first_position) != (header.salt, header.first_position):
        return None
    return head
