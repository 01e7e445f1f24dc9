"""Reopening a journal of sealed segments against a full scan of it.

The scan is the journal's own, which it runs where an index is missing: every frame and checksum of every segment.
All files are in the page cache and batches are large (64 KiB), both in favour of the scan.
"""

import time
from pathlib import Path
from statistics import median

from journal_parts.batches import BatchMaker, open_journal
from support.figures import Figure

from fencepost.journal.recovery import read_headers
from fencepost.journal.segment_header import segment_name
from fencepost.journal.segment_scan import SegmentScan
from fencepost.server.file_disk import FileDisk

BATCH_BYTES = 64 << 10
PARTITIONS = 100
ACTIVE_BATCHES = 1000


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    total_bytes = (256 << 20) if quick else (2 << 30)
    _fill(folder, total_bytes // BATCH_BYTES)
    scan_seconds = min(_scan_seconds(folder) for _ in range(3))
    open_seconds = median(_open_seconds(folder) for _ in range(9))
    _fill(folder, ACTIVE_BATCHES, is_killed=True)
    killed_seconds = _open_seconds(folder)
    return [
        Figure(f"full scan of {total_bytes >> 20} MiB", scan_seconds * 1e3, "ms"),
        Figure("reopen, all segments sealed", open_seconds * 1e3, "ms"),
        Figure("  scan / reopen", scan_seconds / open_seconds, "times", at_least=20),
        Figure("reopen after a kill, active segment nearly full", killed_seconds * 1e3, "ms"),
    ]


def _fill(folder: Path, batch_count: int, *, is_killed: bool = False) -> None:
    maker = BatchMaker(BATCH_BYTES)
    disk = FileDisk(folder)
    journal = open_journal(disk)
    for number in range(batch_count):
        pieces, header = maker.stamped(number // PARTITIONS)
        journal.append(number % PARTITIONS, pieces, header)
        if number % 100 == 99:
            journal.commit()
    if is_killed:
        journal.commit()
        disk.unlock_owner()
    else:
        journal.close()


def _scan_seconds(folder: Path) -> float:
    disk = FileDisk(folder)
    start = time.perf_counter()
    for header in read_headers(disk):
        file = disk.open(segment_name(header.first_position))
        scan = SegmentScan(file, header)
        assert scan.is_sealed
        file.close()
    return time.perf_counter() - start


def _open_seconds(folder: Path) -> float:
    start = time.perf_counter()
    journal = open_journal(FileDisk(folder))
    seconds = time.perf_counter() - start
    journal.close()
    return seconds
