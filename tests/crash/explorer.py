"""Cuts a workload after every disk operation, restarts under every crash model, and compares with the model.

What must hold after each crash: everything acknowledged is there; nothing is there that was not begun, in another order
or with other bytes; replay adds up to the same state; the journal goes on. A recovery that is itself cut, at any of its
operations, loses nothing and shows nothing else; what an open journal has shown stays, whatever happens next.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import EXTREMES, CrashModel, SimulatedCrash, SimulatedDisk
from fencepost.records.header import read_header
from tests.crash.workload import PARTITION_REFS, SEGMENT_BYTES, Model, Workload, build_batch, fold_entry

ALL_OFFSETS = 2**62
ALL_BYTES = 2**40


@dataclass
class Exploration:
    """`seed_counts` says how often the disk is drawn for each crash, `recovery_stride` at which crashes recovery is cut
    too. `opens` is what opens a journal and `disk` what makes a disk, so that a planted bug can stand in."""

    workload_seed: int
    seed_counts: dict[CrashModel, int]
    disk: Callable[[], SimulatedDisk] = SimulatedDisk
    opens: Callable[..., Journal] = Journal.open
    recovery_stride: int = 1
    crash_points: int = 0

    def run(self) -> int:
        whole = self.disk()
        self._workload(whole)
        for operation_count in range(whole.operation_count + 1):
            disk = self.disk()
            disk.crash_after(operation_count)
            model = self._workload(disk)
            for crash_model, seed_count in self.seed_counts.items():
                for seed in crash_seeds(operation_count, seed_count):
                    self._check(model, disk.after_crash(crash_model, seed), f"{operation_count} {crash_model} {seed}")
                if operation_count % self.recovery_stride == 0:
                    found = disk.after_crash(crash_model, operation_count)
                    is_settled = crash_model is not CrashModel.KILLED
                    self._crash_recovery(model, found, f"{operation_count} {crash_model}", is_settled=is_settled)
        return self.crash_points

    def _workload(self, disk: SimulatedDisk) -> Model:
        workload = Workload(self.workload_seed, self.opens)
        with suppress(SimulatedCrash):
            workload.run(disk)
        return workload.model

    def _open(self, disk: SimulatedDisk) -> Journal:
        salts = Random(7)
        return self.opens(disk, JournalConfig(segment_bytes=SEGMENT_BYTES), salt=lambda: salts.getrandbits(64))

    def _check(self, model: Model, disk: SimulatedDisk, place: str) -> None:
        self.crash_points += 1
        try:
            journal = self._open(disk)
            check_journal(model, journal)
            check_goes_on(journal)
        except Exception as error:
            raise AssertionError(f"workload {self.workload_seed}, crash {place}: {error!r}") from error

    def _crash_recovery(self, model: Model, found: SimulatedDisk, place: str, *, is_settled: bool) -> None:
        """Cut the recovery of `found` after each of its operations. With `is_settled` nothing on it is unsynced, so
        that a second recovery must find exactly what the first one would have."""
        whole = found.snapshot()
        last_position = self._open(whole).last_position
        operation_count = whole.operation_count
        for count in range(operation_count + 1):
            again = found.snapshot()
            again.crash_after(count)
            with suppress(SimulatedCrash):
                self._open(again)
            for crash_model, seed in ((CrashModel.POWER_LOST, count), (CrashModel.TORN, 100 + count)):
                self.crash_points += 1
                try:
                    journal = self._open(again.after_crash(crash_model, seed))
                    check_journal(model, journal)
                    is_shown = is_settled or count == operation_count
                    assert not is_shown or journal.last_position == last_position, "a second recovery found another end"
                except Exception as error:
                    where = f"crash {place}, in recovery {count} {crash_model} {seed}"
                    raise AssertionError(f"workload {self.workload_seed}, {where}: {error!r}") from error


def crash_seeds(operation_count: int, count: int) -> list[int]:
    """Half of them extremes, another choice at each operation; the others random."""
    extremes = [(operation_count * count + number) % len(EXTREMES) for number in range((count + 1) // 2)]
    return extremes + [len(EXTREMES) + operation_count * count + number for number in range(count // 2)]


def check_journal(model: Model, journal: Journal) -> None:
    end = journal.last_position
    assert end >= model.acknowledged_position, f"entries {end + 1} to {model.acknowledged_position} are lost"
    assert end <= model.begun_position, f"entries up to {end} are there, {model.begun_position} were begun"
    assert journal.synced_position == end
    for partition_ref in PARTITION_REFS:
        check_partition(model, journal, partition_ref)
    check_replay(model, journal)


def check_partition(model: Model, journal: Journal, partition_ref: int) -> None:
    found = [bytes(b) for b in journal.read(partition_ref, 0, end_offset=ALL_OFFSETS, max_bytes=ALL_BYTES)]
    assert sum(map(len, found)) == journal.size_bytes(partition_ref)
    number = 0
    for entry in model.entries[: journal.last_position]:
        if entry.partition_ref != partition_ref:
            continue
        if number < len(found) and found[number] in entry.payloads:
            number += 1
        else:
            assert None in entry.payloads, f"entry {entry.position} of partition {partition_ref} is missing or changed"
    assert number == len(found), f"partition {partition_ref} holds a batch that nobody appended there"


def check_replay(model: Model, journal: Journal) -> None:
    end = journal.last_position
    replayed = list(journal.replay())
    position = fold = 0
    newest = model.checkpoint_positions(end)
    if newest:
        checkpoint = replayed.pop(0)
        position = checkpoint.position
        assert checkpoint.is_checkpoint
        assert position == newest[-1], f"replay starts at checkpoint {position}, the newest is {newest[-1]}"
        fold = int.from_bytes(checkpoint.payload[:4], "big")
        assert fold == model.entries[position - 1].fold_before
    for entry in replayed:
        fold = fold_entry(fold, entry.position, entry.partition_ref, entry.payload)
    expected = model.entries[end].fold_before if end < len(model.entries) else model.fold
    assert fold == expected, f"replay from entry {position} to {end} adds up to another state"


def check_goes_on(journal: Journal) -> None:
    """A journal that came back takes the next entry and keeps it."""
    batch = build_batch(ALL_OFFSETS - 2, record_count=1, payload=b"next")
    position = journal.append(5, [batch], read_header(batch))
    assert position == journal.last_position
    journal.commit()
    assert [bytes(b) for b in journal.read(5, 0, end_offset=ALL_OFFSETS, max_bytes=0)] == [batch]
