"""The index file of a sealed segment: a head, one summary per partition, and the columns of `rows.row_columns`.

Start-up reads head and summaries only; the columns are memory-mapped when a reader first asks, and checked then.
An index is a copy of what the segment says: it carries the segment's salt, and one that is lost, stale or damaged is
rebuilt from the segment. It is written after the seal is synced, so a good index proves a sealed segment.
"""

import struct
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from crc32c import crc32c

from fencepost.journal.disk import Disk, DiskFile
from fencepost.journal.rows import ROW_BYTES, OpenRows, Row, row_columns
from fencepost.journal.segment_header import TEMPORARY_SUFFIX, index_name
from fencepost.types import NO_TIMESTAMP

if TYPE_CHECKING:
    import numpy as np

    Column = np.ndarray[Any, np.dtype[Any]]
else:
    from fencepost.journal.numpy_later import np

    Column = Any

INDEX_VERSION = 1
_MAGIC = b"FENCEIDX"
_HEAD = struct.Struct("<8sHxxIQQQQQI")
_CHECKSUM = struct.Struct("<I")
_HEAD_BYTES = _HEAD.size + _CHECKSUM.size


@cache
def summary_columns() -> "np.dtype[Any]":
    return np.dtype(
        [
            ("partition_ref", "<u4"),
            ("row_count", "<u4"),
            ("size_bytes", "<i8"),
            ("first_offset", "<i8"),
            ("last_offset", "<i8"),
            ("max_timestamp", "<i8"),
        ]
    )


@dataclass(frozen=True, slots=True)
class IndexHead:
    """What an index says about its segment. `end_place` is where the seal ends."""

    salt: int
    first_position: int
    last_position: int
    end_place: int
    row_count: int
    columns_checksum: int
    summaries: Column


@dataclass(frozen=True, slots=True)
class IndexRows:
    """The columns of one segment; the rows of a partition lie together, in the order of their offsets."""

    summaries: Column
    row_starts: Column
    columns: dict[str, Column]

    def bounds(self, partition_ref: int) -> tuple[int, int]:
        """The rows of a partition, half-open."""
        refs = self.summaries["partition_ref"]
        number = int(refs.searchsorted(partition_ref))
        if number == len(refs) or refs[number] != partition_ref:
            return 0, 0
        return int(self.row_starts[number]), int(self.row_starts[number + 1])

    def find(self, partition_ref: int, offset: int) -> tuple[int, int]:
        """From the first row whose batch ends at or above `offset`, to the end of the partition's rows."""
        start, end = self.bounds(partition_ref)
        base_offsets = self.columns["base_offset"]
        number = start + int(base_offsets[start:end].searchsorted(offset, side="right")) - 1
        if number < start or int(base_offsets[number]) + int(self.columns["last_offset_delta"][number]) < offset:
            number += 1
        return number, end

    def row(self, number: int) -> Row:
        return Row._make(int(self.columns[name][number]) for name in Row._fields)

    def rows(self, start: int, end: int) -> list[Row]:
        return list(map(Row._make, zip(*(self.columns[name][start:end].tolist() for name in Row._fields), strict=True)))


def encode_index(rows: OpenRows, *, salt: int, first_position: int, last_position: int, end_place: int) -> list[bytes]:
    refs = rows.partition_refs()
    packed = b"".join(rows.packed(ref) for ref in refs)
    table = np.frombuffer(packed, dtype=row_columns()) if packed else np.empty(0, dtype=row_columns())
    columns = b"".join(table[name].tobytes() for name in row_columns().names or ())
    summaries = np.zeros(len(refs), dtype=summary_columns())
    start = 0
    for number, ref in enumerate(refs):
        part = table[start : start + rows.count(ref)]
        start += len(part)
        last_offset = int(part["base_offset"][-1]) + int(part["last_offset_delta"][-1])
        size_bytes = int(part["size_bytes"].sum(dtype=np.int64))
        summaries[number] = (
            ref,
            len(part),
            size_bytes,
            int(part["base_offset"][0]),
            last_offset,
            int(part["max_timestamp"].max(initial=NO_TIMESTAMP)),
        )
    head = _HEAD.pack(
        _MAGIC,
        INDEX_VERSION,
        len(refs),
        salt,
        first_position,
        last_position,
        end_place,
        len(table),
        crc32c(columns),
    )
    packed_summaries = summaries.tobytes()
    return [head, _CHECKSUM.pack(crc32c(packed_summaries, crc32c(head))), packed_summaries, columns]


def write_index(disk: Disk, pieces: list[bytes], *, first_position: int) -> IndexHead:
    """Not synced: what a power loss damages, its checksums show, and it is rebuilt."""
    name = index_name(first_position)
    head = write_temporary_index(disk, pieces, temporary_name=name + TEMPORARY_SUFFIX)
    disk.rename(name + TEMPORARY_SUFFIX, name)
    return head


def write_temporary_index(disk: Disk, pieces: list[bytes], *, temporary_name: str) -> IndexHead:
    if temporary_name in disk.list_names():
        disk.unlink(temporary_name)
    file = disk.create(temporary_name, size_bytes=sum(map(len, pieces)))
    file.pwritev(pieces, 0)
    head = read_index_head(file)
    file.close()
    assert head is not None
    return head


def read_index_head(file: DiskFile) -> IndexHead | None:
    """None if it is not a whole index of this version."""
    data = file.pread(_HEAD_BYTES, 0)
    if len(data) < _HEAD_BYTES:
        return None
    magic, version, partition_count, salt, first, last, end_place, row_count, columns_checksum = _HEAD.unpack_from(data)
    size_bytes = _HEAD_BYTES + partition_count * summary_columns().itemsize + row_count * ROW_BYTES
    if magic != _MAGIC or version != INDEX_VERSION or file.size_bytes() != size_bytes:
        return None
    packed_summaries = file.pread(partition_count * summary_columns().itemsize, _HEAD_BYTES)
    if crc32c(packed_summaries, crc32c(data[: _HEAD.size])) != _CHECKSUM.unpack_from(data, _HEAD.size)[0]:
        return None
    summaries = (
        np.frombuffer(packed_summaries, dtype=summary_columns())
        if partition_count
        else np.empty(0, dtype=summary_columns())
    )
    return IndexHead(salt, first, last, end_place, row_count, columns_checksum, summaries)


def map_rows(file: DiskFile, head: IndexHead) -> IndexRows | None:
    """None if the columns fail their checksum."""
    place = _HEAD_BYTES + len(head.summaries) * summary_columns().itemsize
    view = file.map()[place:]
    if crc32c(view) != head.columns_checksum:
        return None
    columns: dict[str, Column] = {}
    offset = 0
    for name in row_columns().names or ():
        dtype = row_columns()[name]
        end = offset + head.row_count * dtype.itemsize
        columns[name] = np.frombuffer(view[offset:end], dtype=dtype) if head.row_count else np.empty(0, dtype=dtype)
        offset = end
    row_starts = np.concatenate(([0], np.cumsum(head.summaries["row_count"], dtype=np.int64)))
    return IndexRows(head.summaries, row_starts, columns)
