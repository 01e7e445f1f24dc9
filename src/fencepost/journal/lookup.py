"""Questions about one partition that the indexes answer without touching a batch."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost.journal.directory import Directory
from fencepost.journal.index_file import Column
from fencepost.journal.open_segment import OpenSegment
from fencepost.journal.rows import Row, row_columns
from fencepost.journal.sealed_segment import SealedSegment

if TYPE_CHECKING:
    import numpy as np
else:
    from fencepost.journal.numpy_later import np


class Lookup:
    """Over a journal's sealed and open segments. Only `size_bytes` sees batches that wait for a commit."""

    def __init__(self, directory: Directory, open_segments: list[OpenSegment]) -> None:
        self._directory = directory
        self._open_segments = open_segments

    def size_bytes(self, partition_ref: int) -> int:
        stream = self._directory.stream(partition_ref)
        open_bytes = sum(int(_open_table(s, partition_ref)["size_bytes"].sum()) for s in self._open_segments)
        return (stream.size_bytes if stream else 0) + open_bytes

    def first_offset(self, partition_ref: int) -> int | None:
        """The base offset of the first batch that is still there."""
        for table in self.tables(partition_ref):
            return int(table["base_offset"][0])
        return None

    def offset_for_timestamp(
        self, partition_ref: int, timestamp_ms: int, *, start_offset: int = 0, end_offset: int
    ) -> Row | None:
        """The first batch with a record of that time or later that ends in the range; which record, its reader
        finds."""
        for table in self.tables(partition_ref, min_timestamp=timestamp_ms):
            late = (table["max_timestamp"] >= timestamp_ms) & (_last_offsets(table) >= start_offset)
            if late.any():
                row = _row(table, int(np.argmax(late)))
                return row if row.last_offset < end_offset else None
        return None

    def max_timestamp(self, partition_ref: int, *, start_offset: int = 0, end_offset: int) -> Row | None:
        """The first of the batches that end in the range that holds their largest timestamp."""
        best: Row | None = None
        for table in self.tables(partition_ref):
            first, end = map(int, np.searchsorted(_last_offsets(table), (start_offset, end_offset)))
            if not end:
                break
            if first == end:
                continue
            row = _row(table, first + int(np.argmax(table["max_timestamp"][first:end])))
            if best is None or row.max_timestamp > best.max_timestamp:
                best = row
        return best

    def tables(self, partition_ref: int, *, min_timestamp: int | None = None) -> Iterator["Table"]:
        """The rows of a partition, segment by segment, oldest first, where there are any."""
        stream = self._directory.stream(partition_ref)
        if stream is not None:
            for segment, max_timestamp in zip(stream.segments, stream.max_timestamps, strict=True):
                if min_timestamp is None or max_timestamp >= min_timestamp:
                    yield _sealed_table(segment, partition_ref)
        for open_segment in self._open_segments:
            table = _open_table(open_segment, partition_ref)
            count = int(np.searchsorted(table["place"], open_segment.synced_place))
            if count:
                yield {name: column[:count] for name, column in table.items()}


Table = dict[str, Column]


def _sealed_table(segment: SealedSegment, partition_ref: int) -> Table:
    start, end = segment.rows.bounds(partition_ref)
    return {name: column[start:end] for name, column in segment.rows.columns.items()}


def _open_table(segment: OpenSegment, partition_ref: int) -> Table:
    # A copy: the rows could not grow while a view of them lives.
    rows = np.frombuffer(bytes(segment.rows.packed(partition_ref)), dtype=row_columns())
    return {name: rows[name] for name in row_columns().names or ()}


def _last_offsets(table: Table) -> Column:
    last_offsets: Column = table["base_offset"] + table["last_offset_delta"]
    return last_offsets


def _row(table: Table, number: int) -> Row:
    return Row._make(int(table[name][number]) for name in Row._fields)
