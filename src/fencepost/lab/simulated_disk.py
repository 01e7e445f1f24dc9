"""A data folder in memory that crashes on demand and keeps exactly what a real disk may keep.

Fair faults, from which the journal must come back:

* a crash between any two operations, or inside a write, under each `CrashModel`. A sector of 512 bytes that was never
  synced holds its old or its new bytes, independently of every other; in the torn model the last write ends at any
  byte and its prefix is kept. A size that was never synced is old or new; a hole reads as zeros. Name changes that were
  never synced survive in any subset, but those of one name in order, and a rename as a whole;
* a failed sync: the program still sees what it wrote, but no later sync saves it from a power loss;
* a full disk, in `create` and in writes that grow a file (a write may then be done in part).

Foul ones, which it must notice and name, but cannot always repair: `flip_bit` and `delete`. Never simulated: bytes that
were never written, a synced byte that changes by a crash, a lost folder.

Deterministic: the same operations and the same seed give the same disk. Reads are no operations: a crash at a read
is the crash after the operation before it.
"""

import errno
import os
from collections.abc import Sequence
from enum import Enum
from random import Random
from typing import NamedTuple

from fencepost.errors import invariant
from fencepost.journal.disk import DiskFull, FolderInUse, SyncFailed
from fencepost.lab.unsynced import Fate, StoredFile, StoredNames
from fencepost.types import Buffer


class CrashModel(Enum):
    KILLED = "killed"
    """The process died, the machine did not: everything written is there, and still not synced."""

    POWER_LOST = "power lost"
    """Of everything unsynced, any subset of sectors, file sizes and name changes is there."""

    TORN = "torn"
    """Power lost, and the last write ends at an arbitrary byte."""


class SimulatedCrash(BaseException):
    """The machine stops here. Not an `Exception`: code under test must not be able to live through it."""


class Plan(NamedTuple):
    """How likely a crash leaves each of the changes that were never synced."""

    others: float
    first: float | None = None
    last: float | None = None

    def chance(self, index: int, count: int) -> float:
        if self.first is not None and index == 0:
            return self.first
        return self.last if self.last is not None and index == count - 1 else self.others


NOTHING, EVERYTHING = Plan(0.0), Plan(1.0)
ONLY_LAST, ONLY_FIRST = Plan(0.0, last=1.0), Plan(0.0, first=1.0)
ALL_BUT_LAST, ALL_BUT_FIRST = Plan(1.0, last=0.0), Plan(1.0, first=0.0)
# File contents and names have a plan each, because most mistakes show when the one survives and the other does not: a
# renamed file whose bytes were never synced, synced bytes under a name that is gone.
EXTREMES = (
    (NOTHING, NOTHING),
    (EVERYTHING, EVERYTHING),
    (NOTHING, EVERYTHING),
    (EVERYTHING, NOTHING),
    (ONLY_LAST, ONLY_LAST),
    (ONLY_FIRST, ONLY_FIRST),
    (ALL_BUT_LAST, ALL_BUT_LAST),
    (ALL_BUT_FIRST, ALL_BUT_FIRST),
    (ONLY_LAST, EVERYTHING),
    (ONLY_FIRST, EVERYTHING),
)
COINS = (Plan(0.1), Plan(0.5), Plan(0.5), Plan(0.9))
DRAWN = (NOTHING, EVERYTHING, ONLY_LAST, ONLY_FIRST, ALL_BUT_LAST, ALL_BUT_FIRST, *COINS)


def plans(seed: int, generator: Random) -> tuple[Plan, Plan]:
    """The plan for file contents and the plan for names: the extremes, each once, and then any two."""
    if 0 <= seed < len(EXTREMES):
        return EXTREMES[seed]
    return generator.choice(DRAWN), generator.choice(DRAWN)


class SimulatedDisk:
    """`capacity_bytes` may be changed at any time; it counts the sizes of all files that have a name."""

    def __init__(self, *, capacity_bytes: int | None = None) -> None:
        self.capacity_bytes = capacity_bytes
        self.operation_count = 0
        self.is_crashed = False
        self._names = StoredNames()
        self._crash_after: int | None = None
        self._fails_next_sync = False
        self._is_owned = False
        self._write_in_flight = False

    # What the journal calls.

    def lock_owner(self) -> None:
        self._check_alive()
        if self._is_owned:
            raise FolderInUse("the simulated data folder is in use")
        self._is_owned = True

    def unlock_owner(self) -> None:
        self._check_alive()
        self._is_owned = False

    def list_names(self) -> list[str]:
        self._check_alive()
        return sorted(self._names.current)

    def create(self, name: str, *, size_bytes: int) -> "SimulatedFile":
        self._begin_operation()
        if name in self._names.current:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        if size_bytes > self._room_bytes():
            raise DiskFull(f"no room for {name}: {size_bytes} bytes asked for, {self._room_bytes()} left")
        file = StoredFile()
        file.resize(size_bytes, order=self.operation_count)
        self._names.change({name: file})
        return SimulatedFile(self, name, file, writable=True)

    def open(self, name: str, *, writable: bool = False) -> "SimulatedFile":
        self._check_alive()
        return SimulatedFile(self, name, self._find(name), writable=writable)

    def rename(self, old_name: str, new_name: str) -> None:
        self._begin_operation()
        self._names.change({old_name: None, new_name: self._find(old_name)})

    def unlink(self, name: str) -> None:
        self._begin_operation()
        self._find(name)
        self._names.change({name: None})

    def sync_folder(self) -> None:
        self._begin_operation()
        if self._take_sync_failure():
            self._names.fail_sync()
            raise SyncFailed("cannot sync the simulated folder")
        self._names.sync()

    # Faults.

    def crash_after(self, operation_count: int) -> None:
        """Let that many operations happen, counted from the first of this disk; the next one raises `SimulatedCrash`,
        and so does everything after it. If that one is a write, it is in flight: a part of it may have happened."""
        self._crash_after = operation_count

    def after_crash(self, model: CrashModel, seed: int) -> "SimulatedDisk":
        """The disk as a restart finds it. This disk stays as it is, so that one crash can be seen under many seeds."""
        generator = Random(seed)
        names = self._names.copy()
        if model is CrashModel.KILLED:
            if self._write_in_flight:
                _tear_last_write(names, generator, Fate.UNSYNCED)
            return self._restarted(names)
        if model is CrashModel.TORN:
            _tear_last_write(names, generator, Fate.SETTLED)
        return self._restarted(_after_power_loss(names, seed, generator))

    def snapshot(self) -> "SimulatedDisk":
        """This moment's disk, synced and unsynced, open nowhere and without an owner."""
        return self._restarted(self._names.copy())

    def fail_next_sync(self) -> None:
        """The next `datasync` or `sync_folder` raises `SyncFailed`."""
        self._fails_next_sync = True

    def flip_bit(self, name: str, *, position: int, bit: int) -> None:
        """At once and for good, as if the medium had changed it."""
        file = self._find(name)
        invariant(0 <= position < file.size_bytes() and 0 <= bit < 8, "a flipped bit lies inside the file")
        flipped = bytes([file.read(1, position)[0] ^ 1 << bit])
        file.write(flipped, position=position, order=self.operation_count, fate=Fate.SETTLED)

    def delete(self, name: str) -> None:
        """At once and for good, as if the file had been removed while the broker was down."""
        self._find(name)
        self._names.change({name: None}, fate=Fate.SETTLED)

    # Within.

    def _begin_operation(self) -> None:
        self._check_alive()
        if self._crash_after is not None and self.operation_count >= self._crash_after:
            self.is_crashed = True
            raise SimulatedCrash
        self.operation_count += 1

    def _check_alive(self) -> None:
        if self.is_crashed:
            raise SimulatedCrash

    def _take_sync_failure(self) -> bool:
        fails, self._fails_next_sync = self._fails_next_sync, False
        return fails

    def _find(self, name: str) -> StoredFile:
        file = self._names.current.get(name)
        if file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return file

    def _room_bytes(self) -> int:
        if self.capacity_bytes is None:
            return 1 << 62
        return self.capacity_bytes - sum(file.size_bytes() for file in self._names.current.values())

    def _restarted(self, names: StoredNames) -> "SimulatedDisk":
        disk = SimulatedDisk(capacity_bytes=self.capacity_bytes)
        disk._names = names
        return disk


class SimulatedFile:
    """An open file. It stays readable and writable when its name is renamed or unlinked, as real ones do."""

    def __init__(self, disk: SimulatedDisk, name: str, stored: StoredFile, *, writable: bool) -> None:
        self._disk = disk
        self._name = name
        self._stored = stored
        self._writable = writable
        self._is_open = True

    @property
    def name(self) -> str:
        return self._name

    def size_bytes(self) -> int:
        self._check(is_allowed=True)
        return self._stored.size_bytes()

    def pread(self, size_bytes: int, position: int) -> bytes:
        self._check(is_allowed=True, place=position)
        return self._stored.read(size_bytes, position)

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Nothing here takes time."""

    def pwritev(self, pieces: Sequence[Buffer], position: int) -> None:
        self._check(is_allowed=self._writable, place=position)
        data = b"".join(pieces)
        try:
            self._disk._begin_operation()
        except SimulatedCrash:
            if data:
                self._stored.write(data, position=position, order=self._disk.operation_count + 1)
                self._disk._write_in_flight = True
            raise
        growth_bytes = max(0, position + len(data) - self._stored.size_bytes())
        missing_bytes = growth_bytes and growth_bytes - max(0, self._disk._room_bytes())
        if missing_bytes > 0:
            data = data[: max(0, len(data) - missing_bytes)]
        if data:
            self._stored.write(data, position=position, order=self._disk.operation_count)
        if missing_bytes > 0:
            raise DiskFull(f"no room for {self._name} to grow by {growth_bytes} bytes, {missing_bytes} too many")

    def datasync(self) -> None:
        self._check(is_allowed=True)
        self._disk._begin_operation()
        if self._disk._take_sync_failure():
            self._stored.fail_sync()
            raise SyncFailed(f"cannot sync {self._name}")
        self._stored.sync()

    def truncate(self, size_bytes: int) -> None:
        self._check(is_allowed=self._writable, place=size_bytes)
        self._disk._begin_operation()
        self._stored.resize(size_bytes, order=self._disk.operation_count)

    def map(self) -> memoryview:
        self._check(is_allowed=True)
        return memoryview(self._stored.content()).toreadonly()

    def close(self) -> None:
        self._is_open = False

    def _check(self, *, is_allowed: bool, place: int = 0) -> None:
        self._disk._check_alive()
        if place < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), self._name)
        if not (self._is_open and is_allowed):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), self._name)


def _tear_last_write(names: StoredNames, generator: Random, fate: Fate) -> None:
    writes = [
        (change.order, index, file)
        for file in names.files()
        for index, change in enumerate(file.unsynced)
        if change.data and change.fate is Fate.UNSYNCED
    ]
    if writes:
        _, index, file = max(writes, key=lambda write: write[0])
        whole = file.unsynced[index]
        file.unsynced[index] = whole.cut(generator.randrange(len(whole.data)))._replace(fate=fate)


def _after_power_loss(names: StoredNames, seed: int, generator: Random) -> StoredNames:
    content_plan, names_plan = plans(seed, generator)
    survivors = names.survivors(names_plan.chance, generator)
    files = list(dict.fromkeys(survivors.values()))
    orders = sorted({change.order for file in files for change in file.unsynced})
    chances = {order: content_plan.chance(index, len(orders)) for index, order in enumerate(orders)}
    found = {file: file.survivors(lambda change: chances[change.order], generator) for file in files}
    synced = {name: found[file] for name, file in survivors.items()}
    return StoredNames(synced, [], dict(synced))
