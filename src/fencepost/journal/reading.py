"""Batches from segments: which rows a fetch wants, and few large reads for them.

Frames of one partition lie between frames of others. Two of them are read together when what lies between is cheaper to
read over than to skip; the disk learns of all reads before the first, so that a cold one serves them side by side.
Every frame that leaves here has passed its checksums and is the one that the index meant.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import Protocol

from fencepost.errors import CorruptLog
from fencepost.journal.disk import DiskFile
from fencepost.journal.frames import FRAME_HEADER_BYTES, read_frame
from fencepost.journal.rows import Row
from fencepost.types import Buffer

GAP_BYTES_MAX = 32 << 10
RUN_BYTES_MAX = 8 << 20


class Source(Protocol):
    """A segment, sealed or open, as a reader sees it."""

    @property
    def name(self) -> str: ...
    @property
    def file(self) -> DiskFile: ...
    @property
    def seed(self) -> int: ...

    def select(self, partition_ref: int, *, start_offset: int, end_offset: int, max_bytes: int) -> list[Row]:
        """Rows from the one that holds `start_offset` on, below `end_offset`; at least up to and including the first
        one with which they have more than `max_bytes`, so that a reader knows that there are more."""


def read_batches(
    sources: Iterable[Source],
    partition_ref: int,
    *,
    start_offset: int,
    end_offset: int,
    max_bytes: int,
    at_least_one: bool,
) -> list[Buffer]:
    found: list[Buffer] = []
    for source in sources:
        rows = source.select(partition_ref, start_offset=start_offset, end_offset=end_offset, max_bytes=max_bytes)
        fitting = _fitting(rows, max_bytes, at_least_one=at_least_one and not found)
        if fitting:
            found.extend(read_rows(source, partition_ref, rows[:fitting]))
            max_bytes -= sum(row.size_bytes for row in rows[:fitting])
            start_offset = rows[fitting - 1].last_offset + 1
        if fitting < len(rows) or start_offset >= end_offset:
            break
    return found


def _fitting(rows: list[Row], max_bytes: int, *, at_least_one: bool) -> int:
    """How many of the rows together have at most `max_bytes`."""
    for count, size_bytes in enumerate(accumulate(row.size_bytes for row in rows)):
        if size_bytes > max_bytes:
            return count or int(at_least_one)
    return len(rows)


def read_rows(source: Source, partition_ref: int, rows: list[Row]) -> list[memoryview]:
    payloads: list[memoryview] = []
    file = source.file
    runs = list(_runs(rows))
    ranges = [(run[0].place, run[-1].place + FRAME_HEADER_BYTES + run[-1].size_bytes) for run in runs]
    if len(ranges) > 1:
        file.will_read(ranges)
    for run, (place, end_place) in zip(runs, ranges, strict=True):
        block = memoryview(file.pread(end_place - place, place))
        for row in run:
            frame = read_frame(block, row.place - place, seed=source.seed, place=row.place)
            fault = frame.fault
            if not fault and (frame.partition_ref != partition_ref or len(frame.payload) != row.size_bytes):
                fault = f"the index says {row.size_bytes} bytes of that partition, the frame says something else"
            if fault:
                raise CorruptLog(
                    f"segment {source.name}, byte {row.place}, partition reference {partition_ref}, "
                    f"offsets {row.base_offset} to {row.last_offset}: {fault}"
                )
            payloads.append(frame.payload)
    return payloads


def _runs(rows: list[Row]) -> Iterable[list[Row]]:
    run = [rows[0]]
    end_place = rows[0].place + FRAME_HEADER_BYTES + rows[0].size_bytes
    for row in rows[1:]:
        is_near = row.place - end_place <= GAP_BYTES_MAX
        if not is_near or row.place + row.size_bytes - run[0].place > RUN_BYTES_MAX:
            yield run
            run = []
        run.append(row)
        end_place = row.place + FRAME_HEADER_BYTES + row.size_bytes
    yield run
