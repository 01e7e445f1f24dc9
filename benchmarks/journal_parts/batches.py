"""Batches for the journal, stamped as the broker stamps them."""

import random

from fencepost.journal.journal import Journal, JournalConfig
from fencepost.records.builder import build_batch
from fencepost.records.header import STAMP_BYTES, BatchHeader, read_header, stamp
from fencepost.records.record import Record
from fencepost.server.file_disk import FileDisk
from fencepost.types import Buffer

SEGMENT_BYTES = JournalConfig().segment_bytes


class BatchMaker:
    """One client batch of exactly `size_bytes`, to be stamped with one offset after the other."""

    def __init__(self, size_bytes: int, *, seed: int = 0) -> None:
        value_bytes = size_bytes - len(build_batch([Record(0, 1_700_000_000_000, None, b"", ())]))
        while True:
            value = random.Random(seed).randbytes(value_bytes)
            self.batch = build_batch([Record(0, 1_700_000_000_000, None, value, ())])
            if len(self.batch) <= size_bytes:
                break
            value_bytes -= len(self.batch) - size_bytes
        self.header = read_header(self.batch)
        self._rest = memoryview(self.batch)[STAMP_BYTES:]

    def stamped(self, base_offset: int) -> tuple[list[Buffer], BatchHeader]:
        header = self.header._replace(base_offset=base_offset, leader_epoch=0)
        return [stamp(header), self._rest], header


def open_journal(disk: FileDisk, *, syncs_commits: bool = True) -> Journal:
    return Journal.open(disk, JournalConfig(syncs_commits=syncs_commits), salt=lambda: random.getrandbits(64))
