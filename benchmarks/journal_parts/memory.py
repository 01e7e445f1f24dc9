"""Memory of a journal with 50 million one-record batches over 1,000 partitions.

Measured in a process of its own as anonymous resident memory (RssAnon; pages of mapped index files are not part of it)
beyond what that process had before it opened the journal: at the highest while it appends, through the same code as the
broker's appends, and after a restart once every index has been mapped and read from.
"""

import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from journal_parts.batches import BatchMaker, open_journal
from support.figures import Figure

from fencepost.server.file_disk import FileDisk

PARTITIONS = 1000
BATCH_BYTES = 72
"""The smallest batch with a record in it, nearly."""
READS = 2000
SAMPLES_PER_SECOND = 100


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    batch_count = 1_000_000 if quick else 50_000_000
    appending_mb, size_mb = _in_own_process(_append_all, folder, batch_count)
    reopened_mb, mapped_mb = _in_own_process(_reopen_and_read, folder, batch_count)
    count = f"{batch_count / 1e6:g} M batches"
    return [
        Figure(f"journal of {count}, {PARTITIONS} partitions", size_mb, "MB on disk"),
        Figure(f"memory while appending {count}, at the highest", appending_mb, "MB", at_most=200),
        Figure(f"memory after reopening, {READS} reads over all of it", reopened_mb, "MB", at_most=200),
        Figure("  mapped index pages meanwhile, apart", mapped_mb, "MB"),
    ]


def _in_own_process(work, folder: Path, batch_count: int) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        figures: tuple[float, float] = pool.submit(work, folder, batch_count).result()
        return figures


def _append_all(folder: Path, batch_count: int) -> tuple[float, float]:
    maker = BatchMaker(BATCH_BYTES)
    with HighestMemory() as memory:
        journal = open_journal(FileDisk(folder))
        append = journal.append
        for offset in range(batch_count // PARTITIONS):
            pieces, header = maker.stamped(offset)
            for partition_ref in range(PARTITIONS):
                append(partition_ref, pieces, header)
            if offset % 10 == 9:
                journal.commit()
        journal.close()
    return memory.beyond_empty_mb, sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def _reopen_and_read(folder: Path, batch_count: int) -> tuple[float, float]:
    mapped_before = _status_mb("RssFile")
    offsets = batch_count // PARTITIONS
    with HighestMemory() as memory:
        journal = open_journal(FileDisk(folder))
        for number in range(READS):
            start_offset = number * offsets // READS
            found = journal.read(number * 7 % PARTITIONS, start_offset, end_offset=offsets, max_bytes=4 << 10)
            assert found
        mapped = _status_mb("RssFile") - mapped_before
        journal.close()
    return memory.beyond_empty_mb, mapped


class HighestMemory:
    """Samples on a thread: what is taken and given back inside one call counts too."""

    def __enter__(self) -> "HighestMemory":
        self._empty_mb = self._highest_mb = _status_mb("RssAnon")
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def _sample(self) -> None:
        while not self._ends.wait(1 / SAMPLES_PER_SECOND):
            self._highest_mb = max(self._highest_mb, _status_mb("RssAnon"))

    def __exit__(self, *_exception: object) -> None:
        self._ends.set()
        self._thread.join()

    @property
    def beyond_empty_mb(self) -> float:
        return self._highest_mb - self._empty_mb


def _status_mb(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(f"/proc/self/status has no {field}")
