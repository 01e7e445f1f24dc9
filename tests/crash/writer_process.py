"""A process that writes to a journal on real files until it is killed. Prints each position once it is acknowledged.

Appends on one thread, commits on a second and cleans on a third, as a broker does. Batches tell what they must hold.
"""

import secrets
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from fencepost.journal.journal import Journal, JournalConfig
from fencepost.records.header import read_header
from fencepost.server.file_disk import FileDisk
from tests.unit.journal.driver import RetentionPolicy, build_batch

CONFIG = JournalConfig(segment_bytes=64 << 10)
PARTITION_COUNT = 3
CLEANED_REF = 2
GROUPS_PER_CHECKPOINT = 40
APPENDS_IN_FLIGHT = 5


def batch_at(partition_ref: int, offset: int) -> bytes:
    return build_batch(offset, b"%d-%d " % (partition_ref, offset) * (offset * 7 % 90))


def open_journal(folder: str) -> Journal:
    return Journal.open(FileDisk(folder), CONFIG, salt=lambda: secrets.randbits(64))


def next_offsets(journal: Journal) -> list[int]:
    offsets = []
    for partition_ref in range(PARTITION_COUNT):
        batches = journal.read(partition_ref, 0, end_offset=2**62, max_bytes=2**40)
        offsets.append(read_header(batches[-1]).last_offset + 1 if batches else 0)
    return offsets


def cleanings(journal: Journal, offsets: list[int], thread: ThreadPoolExecutor) -> Iterator[None]:
    """Step by step, forever: one cleaning at a time on its thread."""
    while True:
        position = 1
        policy = RetentionPolicy({CLEANED_REF: offsets[CLEANED_REF] // 2})
        while cleaning := journal.begin_cleaning(policy, from_position=position):
            running = thread.submit(cleaning.run)
            while not running.done():
                yield
            running.result()
            journal.finish_cleaning(cleaning)
            position = cleaning.next_position
        yield


def append_round(journal: Journal, offsets: list[int]) -> None:
    for partition_ref in range(PARTITION_COUNT):
        batch = batch_at(partition_ref, offsets[partition_ref])
        journal.append(partition_ref, [batch[:61], memoryview(batch)[61:]], read_header(batch))
        offsets[partition_ref] += 1


def main(folder: str) -> None:
    journal = open_journal(folder)
    offsets = next_offsets(journal)
    with ThreadPoolExecutor(1) as commit_thread, ThreadPoolExecutor(1) as cleaning_thread:
        cleaning = cleanings(journal, offsets, cleaning_thread)
        group_number = 0
        while True:
            group_number += 1
            if group_number % GROUPS_PER_CHECKPOINT == 0:
                journal.append_checkpoint(repr(offsets).encode())
            append_round(journal, offsets)
            group = journal.begin_commit()
            assert group is not None
            running = commit_thread.submit(group.write_and_sync)
            for _ in range(APPENDS_IN_FLIGHT):
                append_round(journal, offsets)
            next(cleaning)
            running.result()
            journal.finish_commit(group)
            print(journal.synced_position, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
