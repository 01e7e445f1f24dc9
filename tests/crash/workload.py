"""A journal's life on a simulated disk, and the model that says what a crash at any moment may leave of it.

The workload appends to three partitions, commits (sometimes with appends while the group is in flight), rolls, writes
checkpoints, cleans with retention and record-level compaction, closes and opens again. It is the same every time, so a
run that is cut after n disk operations is a prefix of the whole run.

A checkpoint holds the fold of all entries before it, so that replay from any checkpoint can be compared with the model.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from crc32c import crc32c

from fencepost.journal.cleaning import CleaningPolicy
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.header import read_header, write_header
from fencepost.types import Buffer
from tests.unit.journal.driver import RetentionPolicy, build_batch

SEGMENT_BYTES = 2048
COMPACTED_REF = 2
PARTITION_REFS = (0, 1, COMPACTED_REF)


@dataclass(slots=True)
class ModelEntry:
    """`payloads` are all bytes that may be found at this position; None among them allows that nothing is found."""

    position: int
    partition_ref: int | None
    last_offset: int
    payloads: list[bytes | None]
    fold_before: int


@dataclass
class Model:
    entries: list[ModelEntry] = field(default_factory=list)
    end_offsets: dict[int, int] = field(default_factory=dict)
    fold: int = 0
    acknowledged_position: int = 0
    begun_position: int = 0

    def add(self, partition_ref: int | None, payload: bytes, last_offset: int) -> None:
        position = len(self.entries) + 1
        self.entries.append(ModelEntry(position, partition_ref, last_offset, [payload], self.fold))
        if partition_ref is not None:
            self.fold = fold_entry(self.fold, position, partition_ref, payload)

    @property
    def moment(self) -> object:
        """Differs whenever something else may be found after a crash."""
        allowed = sum(len(entry.payloads) for entry in self.entries)
        return len(self.entries), allowed, self.acknowledged_position, self.begun_position

    def checkpoint_positions(self, end_position: int) -> list[int]:
        return [entry.position for entry in self.entries[:end_position] if entry.partition_ref is None]

    def allow_cleaning(self, policy: "CutAndCompact", bound_position: int) -> None:
        for entry in self.entries[: max(0, bound_position - 1)]:
            if entry.partition_ref is None:
                continue
            if entry.last_offset < policy.start_offset(entry.partition_ref):
                entry.payloads.append(None)
            elif policy.is_compacted(entry.partition_ref):
                current = next(payload for payload in reversed(entry.payloads) if payload is not None)
                left = policy.compact(entry.partition_ref, memoryview(current))
                entry.payloads.append(None if left is None else bytes(left))


def fold_entry(fold: int, position: int, partition_ref: int, payload: Buffer) -> int:
    return int(crc32c(payload, crc32c(b"%d %d" % (position, partition_ref), fold)))


@dataclass(frozen=True)
class CutAndCompact(RetentionPolicy):
    """Of the compacted partition every third batch goes and others are halved once."""

    compacts: bool = True

    def is_compacted(self, partition_ref: int) -> bool:
        return self.compacts and partition_ref == COMPACTED_REF

    def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
        header = read_header(batch)
        if header.base_offset % 3 == 0:
            return None
        if header.record_count == 1:
            return batch
        payload = bytes(batch[61 : 61 + (len(batch) - 61) // 2])
        return write_header(header._replace(record_count=1), payload) + payload


class Workload:
    """Runs until it ends or the disk crashes; `model` is right at every moment in between."""

    def __init__(self, seed: int, open_journal: Callable[..., Journal] = Journal.open) -> None:
        self.model = Model()
        self._random = Random(seed)
        self._open_journal = open_journal
        self._start_offsets: dict[int, int] = {}

    def run(self, disk: SimulatedDisk) -> None:
        for clean_close in (True, False):
            journal = self.open(disk)
            for round_number in range(2):
                self._fill(journal, commit_count=4)
                self._checkpoint(journal)
                self._fill(journal, commit_count=2)
                self._checkpoint(journal)
                self._clean(journal, compacts=round_number % 2 == 1)
            self._fill(journal, commit_count=1)
            if clean_close:
                self.model.begun_position = journal.last_position
                journal.close()
                self.model.acknowledged_position = len(self.model.entries)

    def open(self, disk: SimulatedDisk) -> Journal:
        config = JournalConfig(segment_bytes=SEGMENT_BYTES)
        return self._open_journal(disk, config, salt=lambda: self._random.getrandbits(64))

    def append(self, journal: Journal) -> None:
        partition_ref = self._random.choice(PARTITION_REFS)
        base_offset = self.model.end_offsets.get(partition_ref, 0)
        record_count = self._random.choice((1, 1, 2, 5))
        payload = self._random.randbytes(self._random.choice((0, 10, 60, 300, 700)))
        batch = build_batch(base_offset, payload, record_count=record_count)
        position = journal.append(partition_ref, [batch[:61], memoryview(batch)[61:]], read_header(batch))
        self.model.add(partition_ref, batch, base_offset + record_count - 1)
        self.model.end_offsets[partition_ref] = base_offset + record_count
        assert position == len(self.model.entries)

    def commit(self, journal: Journal, *, appends_in_flight: int = 0) -> None:
        group = journal.begin_commit()
        if group is None:
            return
        self.model.begun_position = group.last_position
        for _ in range(appends_in_flight):
            self.append(journal)
        group.write_and_sync()
        journal.finish_commit(group)
        self.model.acknowledged_position = max(self.model.acknowledged_position, journal.synced_position)

    def _fill(self, journal: Journal, *, commit_count: int) -> None:
        for _ in range(commit_count):
            for _ in range(self._random.randrange(1, 5)):
                self.append(journal)
            self.commit(journal, appends_in_flight=self._random.choice((0, 0, 1, 2)))
        self.commit(journal)

    def _checkpoint(self, journal: Journal) -> None:
        state = self.model.fold.to_bytes(4, "big") + self._random.randbytes(self._random.choice((0, 100, 900)))
        journal.append_checkpoint(state)
        self.model.add(None, state, -1)
        self.commit(journal)

    def _clean(self, journal: Journal, *, compacts: bool) -> None:
        for partition_ref, end_offset in self.model.end_offsets.items():
            if partition_ref != COMPACTED_REF:
                self._start_offsets[partition_ref] = self._random.randrange(end_offset + 1)
        policy = CutAndCompact(dict(self._start_offsets), compacts)
        self.model.allow_cleaning(policy, min(self.model.checkpoint_positions(len(self.model.entries))[-2:]))
        clean(journal, policy)


def clean(journal: Journal, policy: CleaningPolicy) -> int:
    """Clean all there is to clean, as a broker's background job does; how many times a segment was replaced."""
    count, position = 0, 1
    while (cleaning := journal.begin_cleaning(policy, from_position=position)) is not None:
        cleaning.run()
        journal.finish_cleaning(cleaning)
        count += cleaning.is_done
        position = cleaning.next_position
    return count
