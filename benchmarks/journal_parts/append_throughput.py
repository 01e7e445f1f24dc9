"""Append throughput against a bare loop of os.writev.

Both write the same batches of 64 KiB in groups of 1 MiB into files of the segment size, preallocated with
posix_fallocate inside the measured time, and call fdatasync after each group. The journal besides takes a checksum of
every byte, frames, indexes, seals and names its segments. Rounds alternate, because other users of the disk disturb
both; the median of their ratios counts.

The same once more without a sync per group. That one has no goal, because the sides differ in their syncs: the bare
loop keeps one per file, the journal also those of the segment's name, seal and index.
"""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from journal_parts.batches import SEGMENT_BYTES, BatchMaker, open_journal
from support.figures import Figure
from support.scratch import settle

from fencepost.records.header import BatchHeader
from fencepost.server.file_disk import FileDisk
from fencepost.types import Buffer

BATCH_BYTES = 64 << 10
GROUP_BATCHES = 16
Group = list[tuple[list[Buffer], BatchHeader]]


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    total_bytes, rounds = (128 << 20, 4) if quick else (256 << 20, 20)
    figures = []
    for syncs, label, goal in ((True, "fdatasync per 1 MiB group", 70), (False, "commits not synced", None)):
        rates: dict[str, list[float]] = {"bare": [], "journal": []}
        for number in range(rounds):
            # What one leaves to the disk is paid by the other, so they take turns in being first.
            for side in ("bare", "journal") if number % 2 else ("journal", "bare"):
                rates[side].append(_mb_per_second(folder / side, total_bytes, WRITERS[side], syncs=syncs))
        bare, journal = rates["bare"], rates["journal"]
        ratio = median(ours / theirs for ours, theirs in zip(journal, bare, strict=True))
        figures += [
            Figure(f"append, 64 KiB batches, {label}: bare", median(bare), "MB/s"),
            Figure(f"append, 64 KiB batches, {label}: journal", median(journal), "MB/s"),
            Figure("  journal / bare", 100 * ratio, "%", at_least=goal),
        ]
    return figures


def _mb_per_second(folder: Path, total_bytes: int, write: Callable[..., None], *, syncs: bool) -> float:
    maker = BatchMaker(BATCH_BYTES)
    batches = [maker.stamped(offset) for offset in range(total_bytes // BATCH_BYTES)]
    groups = [batches[first : first + GROUP_BATCHES] for first in range(0, len(batches), GROUP_BATCHES)]
    folder.mkdir()
    start = time.perf_counter()
    write(folder, groups, syncs=syncs)
    seconds = time.perf_counter() - start
    settle(folder)
    shutil.rmtree(folder)
    return total_bytes / seconds / 1e6


def _write_bare(folder: Path, groups: list[Group], *, syncs: bool) -> None:
    whole_groups = [[piece for pieces, _ in group for piece in pieces] for group in groups]
    groups_per_file = SEGMENT_BYTES // (BATCH_BYTES * GROUP_BATCHES)
    for first in range(0, len(whole_groups), groups_per_file):
        descriptor = os.open(folder / str(first), os.O_RDWR | os.O_CREAT)
        os.posix_fallocate(descriptor, 0, SEGMENT_BYTES)
        for whole_group in whole_groups[first : first + groups_per_file]:
            os.writev(descriptor, whole_group)
            if syncs:
                os.fdatasync(descriptor)
        os.fdatasync(descriptor)
        os.close(descriptor)


def _write_journal(folder: Path, groups: list[Group], *, syncs: bool) -> None:
    journal = open_journal(FileDisk(folder), syncs_commits=syncs)
    for group in groups:
        for pieces, header in group:
            journal.append(1, pieces, header)
        journal.commit()
    journal.close()


WRITERS = {"bare": _write_bare, "journal": _write_journal}
