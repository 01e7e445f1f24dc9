"""A segment that is complete: read-only, found through its index, replaced as a whole by cleaning.

Files are opened, and the index mapped, when somebody first asks; start-up needs neither.
"""

import numpy as np

from fencepost.journal.disk import Disk, DiskFile
from fencepost.journal.frames import checksum_seed
from fencepost.journal.index_file import IndexHead, IndexRows, map_rows, read_index_head
from fencepost.journal.index_rebuild import rebuild_index
from fencepost.journal.rows import Row
from fencepost.journal.segment_header import SegmentHeader, index_name, segment_name

_BATCH_BYTES_MIN = 61


class SealedSegment:
    def __init__(self, disk: Disk, header: SegmentHeader, head: IndexHead) -> None:
        self.header = header
        self.seed = checksum_seed(header.salt)
        self.head = head
        self._disk = disk
        self._file: DiskFile | None = None
        self._index_file: DiskFile | None = None
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
        if self._file is None:
            self._file = self._disk.open(self.name)
        return self._file

    @property
    def rows(self) -> IndexRows:
        if self._rows is None:
            self._index_file = self._disk.open(index_name(self.first_position))
            rows = map_rows(self._index_file, self.head)
            if rows is None:
                rows = self._rebuilt_rows()
            self._rows = rows
        return self._rows

    def _rebuilt_rows(self) -> IndexRows:
        if self._index_file is not None:
            self._index_file.close()
        self.head = rebuild_index(self._disk, self.file, self.header)
        self._index_file = self._disk.open(index_name(self.first_position))
        rows = map_rows(self._index_file, self.head)
        assert rows is not None
        return rows

    def pin(self) -> None:
        """Open both files now: their names may soon stand for other ones."""
        _ = self.file, self.rows

    def select(self, partition_ref: int, *, start_offset: int, end_offset: int, max_bytes: int) -> list[Row]:
        """The rows from `start_offset` on; the first one, and more as long as they fit in `max_bytes`."""
        rows = self.rows
        start, end = rows.find(partition_ref, start_offset)
        end = min(end, start + max_bytes // _BATCH_BYTES_MIN + 1)
        end = start + int(np.searchsorted(rows.columns["base_offset"][start:end], end_offset, side="left"))
        if end > start and rows.row(end - 1).last_offset >= end_offset:
            end -= 1
        sizes = np.cumsum(rows.columns["size_bytes"][start:end], dtype=np.int64)
        fitting = int(np.searchsorted(sizes, max_bytes, side="right"))
        return rows.rows(start, min(end, start + max(1, fitting)))

    def close(self) -> None:
        self._rows = None
        for file in (self._file, self._index_file):
            if file is not None:
                file.close()
        self._file = self._index_file = None


def open_sealed(disk: Disk, header: SegmentHeader, names: set[str]) -> SealedSegment | None:
    """The segment with its index, or None if there is no index that fits it."""
    name = index_name(header.first_position)
    if name not in names:
        return None
    file = disk.open(name)
    head = read_index_head(file)
    file.close()
    if head is None or (head.salt, head.first_position) != (header.salt, header.first_position):
        return None
    return SealedSegment(disk, header, head)
