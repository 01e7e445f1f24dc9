"""Cuts a workload after every disk operation, restarts under every crash model, and compares with the model.

What must hold after each crash: everything acknowledged is there; nothing is there that was not begun, in another order
or with other bytes; replay adds up to the same state; the journal goes on. A recovery that is itself cut, at any of its
operations, loses nothing and shows nothing else; what an open journal has shown stays, whatever happens next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import EXTREMES, CrashModel, SimulatedDisk
from fencepost.records.header import read_header
from tests.crash.watched_disk import Watch, WatchedDisk
from tests.crash.workload import PARTITION_REFS, SEGMENT_BYTES, Model, Workload, fold_entry
from tests.unit.journal.driver import ALL_BYTES, ALL_OFFSETS, build_batch


class Restarts:
    """Checks what a restart finds, and counts. Many seeds leave the same bytes under the same names: those are checked
    once for each moment of the workload, which stands for what may be found then."""

    def __init__(self) -> None:
        self.count = 0
        """Of those that were checked."""
        self._moment: object = None
        self._seen: set[frozenset[tuple[str, bytes]]] = set()

    def check(self, disk: SimulatedDisk, check: Callable[[SimulatedDisk], None], *, moment: object, place: str) -> None:
        if moment != self._moment:
            self._moment, self._seen = moment, set()
        content = frozenset((name, disk.open(name).pread(ALL_BYTES, 0)) for name in disk.list_names())
        if content in self._seen:
            return
        self._seen.add(content)
        self.count += 1
        try:
            check(disk)
        except Exception as problem:
            raise AssertionError(f"crash {place}: {problem!r}") from problem


@dataclass
class Exploration:
    """`seed_counts` says how often the disk is drawn for each crash, `recovery_stride` at which crashes recovery is cut
    too. `opens` is what opens a journal and `disk` what makes a disk, so that a planted bug can stand in."""

    workload_seed: int
    seed_counts: dict[CrashModel, int]
    disk: Callable[[Watch], WatchedDisk] = WatchedDisk
    opens: Callable[..., Journal] = Journal.open
    recovery_stride: int = 1

    def run(self) -> int:
        """How many crash points there were."""
        workload = Workload(self.workload_seed, self.opens)
        model = workload.model
        restarts = Restarts()
        recoveries = 0

        def check(disk: SimulatedDisk) -> None:
            journal = self._open(disk)
            check_journal(model, journal)
            check_goes_on(journal)

        def crash(disk: SimulatedDisk, operation_count: int) -> None:
            nonlocal recoveries
            for crash_model, seed_count in self.seed_counts.items():
                place = f"{operation_count} of workload {self.workload_seed}, {crash_model}"
                for seed in crash_seeds(operation_count, seed_count):
                    found = disk.after_crash(crash_model, seed)
                    restarts.check(found, check, moment=model.moment, place=f"{place} {seed}")
                if operation_count % self.recovery_stride == 0:
                    found = disk.after_crash(crash_model, operation_count)
                    is_settled = crash_model is not CrashModel.KILLED
                    recoveries += self._crash_recovery(model, found, place, is_settled=is_settled)

        self.disk(crash).run(workload.run)
        return restarts.count + recoveries

    def _open(self, disk: SimulatedDisk) -> Journal:
        salts = Random(7)
        return self.opens(disk, JournalConfig(segment_bytes=SEGMENT_BYTES), salt=lambda: salts.getrandbits(64))

    def _crash_recovery(self, model: Model, found: SimulatedDisk, place: str, *, is_settled: bool) -> int:
        """Cut the recovery of `found` after each of its operations. With `is_settled` nothing on it is unsynced, so
        that a second recovery must find exactly what the first one would have."""
        whole = found.snapshot()
        last_position = self._open(whole).last_position
        restarts = Restarts()

        def crash(disk: SimulatedDisk, count: int) -> None:
            is_shown = is_settled or count == whole.operation_count

            def check(again: SimulatedDisk) -> None:
                journal = self._open(again)
                check_journal(model, journal)
                assert not is_shown or journal.last_position == last_position, "a second recovery found another end"

            for crash_model, seed in ((CrashModel.POWER_LOST, count), (CrashModel.TORN, 100 + count)):
                where = f"{place}, in recovery {count} {crash_model} {seed}"
                restarts.check(disk.after_crash(crash_model, seed), check, moment=is_shown, place=where)

        WatchedDisk.over(found, crash).run(self._open)
        return restarts.count


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
    batch = build_batch(ALL_OFFSETS - 2, b"next")
    position = journal.append(5, [batch], read_header(batch))
    assert position == journal.last_position
    journal.commit()
    assert [bytes(b) for b in journal.read(5, 0, end_offset=ALL_OFFSETS, max_bytes=0)] == [batch]
