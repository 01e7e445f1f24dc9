"""Reading one partition out of 100 interleaved ones from a cold cache, against a file of its own.

Both files are dropped from the page cache first and the journal is opened anew; a fetch asks for 1 MiB at a time, the
bare loop reads 1 MiB at a time. The journal's figure includes finding the batches by index, itself cold, and checking
them.
"""

import os
import time
from pathlib import Path
from statistics import median

from journal_parts.batches import BatchMaker, open_journal
from support.figures import Figure
from support.scratch import make_cold

from fencepost.server.file_disk import FileDisk

PARTITIONS = 100
FETCH_BYTES = 1 << 20


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    figures = []
    for batch_bytes in (1 << 10, 16 << 10, 64 << 10):
        total_bytes = (128 << 20) if quick else (2 << 30) if batch_bytes > 1 << 10 else (1 << 30)
        figures += _measure_batch_size(folder / str(batch_bytes), batch_bytes, total_bytes // PARTITIONS // batch_bytes)
    return figures


def _measure_batch_size(folder: Path, batch_bytes: int, batches_per_partition: int) -> list[Figure]:
    folder.mkdir()
    journal_folder, own_file = folder / "journal", folder / "own"
    _write_interleaved(journal_folder, batch_bytes, batches_per_partition)
    own_file.write_bytes(BatchMaker(batch_bytes).batch * batches_per_partition)
    interleaved, own = [], []
    for partition_ref in (0, PARTITIONS // 2, PARTITIONS - 1):
        make_cold(folder)
        interleaved.append(_read_partition_mb_per_second(journal_folder, partition_ref, batches_per_partition))
        own.append(_read_file_mb_per_second(own_file))
    label = f"1 of {PARTITIONS} partitions, {batch_bytes >> 10} KiB batches, cold"
    return [
        Figure(f"{label}: file of its own", median(own), "MB/s"),
        Figure(f"{label}: journal", median(interleaved), "MB/s"),
        Figure("  journal / file of its own", 100 * median(interleaved) / median(own), "%"),
    ]


def _write_interleaved(folder: Path, batch_bytes: int, batches_per_partition: int) -> None:
    maker = BatchMaker(batch_bytes)
    journal = open_journal(FileDisk(folder))
    for offset in range(batches_per_partition):
        pieces, header = maker.stamped(offset)
        for partition_ref in range(PARTITIONS):
            journal.append(partition_ref, pieces, header)
        journal.commit()
    journal.close()


def _read_partition_mb_per_second(folder: Path, partition_ref: int, end_offset: int) -> float:
    journal = open_journal(FileDisk(folder))
    start = time.perf_counter()
    offset = read_bytes = 0
    while offset < end_offset:
        batches = journal.read(partition_ref, offset, end_offset=end_offset, max_bytes=FETCH_BYTES)
        offset += len(batches)
        read_bytes += sum(map(len, batches))
    seconds = time.perf_counter() - start
    journal.close()
    return read_bytes / seconds / 1e6


def _read_file_mb_per_second(path: Path) -> float:
    start = time.perf_counter()
    descriptor = os.open(path, os.O_RDONLY)
    position = 0
    while data := os.pread(descriptor, FETCH_BYTES, position):
        position += len(data)
    seconds = time.perf_counter() - start
    os.close(descriptor)
    return position / seconds / 1e6
