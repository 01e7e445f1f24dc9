"""Synced appends per second: 64 writers that each wait for their own acknowledgement, against one fdatasync per append.

A writer appends one record of 100 bytes and appends its next one only when the journal has synced its last one. With
a single writer that is one fdatasync per append, the same journal without the gain of group commit. A bare file shows
what the disk can do: frames of the same size into a preallocated file, one pwrite and one fdatasync each. Batches are
made outside the measured time, except that the journal's carry their offsets. Rounds are short and alternate; the
median of their ratios counts.
"""

import os
import time
from pathlib import Path
from statistics import median

from journal_parts.batches import SEGMENT_BYTES, BatchMaker, open_journal
from support.figures import Figure

from fencepost.journal.frames import FRAME_HEADER_BYTES
from fencepost.server.file_disk import FileDisk

WRITERS = 64
BATCH_BYTES = 172
"""A batch of one record with a value of 100 bytes."""


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    seconds, rounds = (0.2, 5) if quick else (0.4, 21)
    bare, single, grouped = [], [], []
    for number in range(rounds):
        bare.append(_bare_appends_per_second(folder / f"bare-{number}", seconds))
        single.append(_journal_appends_per_second(folder / f"single-{number}", seconds, writers=1))
        grouped.append(_journal_appends_per_second(folder / f"grouped-{number}", seconds, writers=WRITERS))
    return [
        Figure("synced appends: bare file, one fdatasync each", median(bare), "per s"),
        Figure("synced appends: journal, one fdatasync each", median(single), "per s"),
        Figure("synced appends: journal, 64 writers", median(grouped), "per s"),
        Figure("  64 writers / one fdatasync each", _median_ratio(grouped, single), "times", at_least=20),
        Figure("  64 writers / bare file", _median_ratio(grouped, bare), "times"),
    ]


def _median_ratio(ours: list[float], theirs: list[float]) -> float:
    return median(one / other for one, other in zip(ours, theirs, strict=True))


def _bare_appends_per_second(path: Path, seconds: float) -> float:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(descriptor, 0, SEGMENT_BYTES)
    data = bytes(FRAME_HEADER_BYTES + BATCH_BYTES)
    start = time.perf_counter()
    count = 0
    while time.perf_counter() - start < seconds:
        os.pwrite(descriptor, data, count * len(data) % SEGMENT_BYTES)
        os.fdatasync(descriptor)
        count += 1
    rate = count / (time.perf_counter() - start)
    os.close(descriptor)
    return rate


def _journal_appends_per_second(folder: Path, seconds: float, *, writers: int) -> float:
    maker = BatchMaker(BATCH_BYTES)
    journal = open_journal(FileDisk(folder))
    waits_for = [0] * writers
    start = time.perf_counter()
    count = round_number = 0
    while time.perf_counter() - start < seconds:
        # Every writer has a partition of its own, and so the same offset as the others of its round.
        pieces, header = maker.stamped(round_number)
        for writer, position in enumerate(waits_for):
            if position <= journal.synced_position:
                waits_for[writer] = journal.append(writer, pieces, header)
                count += 1
        journal.commit()
        round_number += 1
    rate = count / (time.perf_counter() - start)
    journal.close()
    return rate
