"""A file and a folder as a disk knows them: what is synced, and the list of what is not.

`StoredFile` and `StoredNames` hold the synced state and every change after it, in order; the state that a program
sees is the one with all changes made. `survivors` makes the state after a power loss. A change whose sync failed is
`DOUBTFUL` for good: the program goes on seeing it, and no later sync makes it safe.

Copies are cheap: synced bytes are shared until one side changes them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import NamedTuple, TypeVar

SECTOR_BYTES = 512


class Fate(Enum):
    UNSYNCED = "lost or kept, until a sync"
    DOUBTFUL = "its sync failed: lost or kept, whatever is synced later"
    SETTLED = "synced, but after a doubtful change, so that it cannot be folded into the synced state"


class FileChange(NamedTuple):
    """Bytes at a position, and the size of the file from then on. A truncate has no bytes."""

    order: int
    position: int
    data: bytes
    size_before: int
    size_bytes: int
    fate: Fate = Fate.UNSYNCED

    def cut(self, kept_bytes: int) -> "FileChange":
        """The same write, stopped after `kept_bytes`."""
        size_bytes = max(self.size_before, self.position + kept_bytes)
        return self._replace(data=self.data[:kept_bytes], size_bytes=size_bytes)

    @property
    def resizes(self) -> bool:
        return self.size_bytes != self.size_before

    def make(self, content: bytearray) -> None:
        _resize(content, self.size_bytes)
        content[self.position : self.position + len(self.data)] = self.data


class StoredFile:
    def __init__(self, synced: bytes = b"") -> None:
        self.unsynced: list[FileChange] = []
        self._synced: bytes | bytearray = synced
        self._content: bytearray | None = None

    def content(self) -> bytearray:
        """What a program reads. Changed in place, so that a map of it stays true."""
        if self._content is None:
            self._content = bytearray(self._synced)
            for change in self.unsynced:
                change.make(self._content)
        return self._content

    def size_bytes(self) -> int:
        return self.unsynced[-1].size_bytes if self.unsynced else len(self._synced)

    def read(self, size_bytes: int, position: int) -> bytes:
        content = self._synced if self._content is None and not self.unsynced else self.content()
        return bytes(content[position : position + size_bytes])

    def write(self, data: bytes, *, position: int, order: int, fate: Fate = Fate.UNSYNCED) -> None:
        size_before = self.size_bytes()
        size_bytes = max(size_before, position + len(data))
        self._change(FileChange(order, position, data, size_before, size_bytes, fate))

    def resize(self, size_bytes: int, *, order: int) -> None:
        size_before = self.size_bytes()
        if size_bytes != size_before:
            self._change(FileChange(order, size_bytes, b"", size_before, size_bytes))

    def _change(self, change: FileChange) -> None:
        content = self.content()
        if change.resizes:
            # A map holds on to the bytes under it, and those cannot change their size.
            self._content = content = bytearray(content)
        change.make(content)
        self.unsynced.append(change)

    def sync(self) -> None:
        if any(change.fate is Fate.DOUBTFUL for change in self.unsynced):
            self.unsynced = [_with_fate(change, Fate.SETTLED) for change in self.unsynced]
            return
        if self.unsynced and isinstance(self._synced, bytes):
            self._synced = bytearray(self._synced)
        for change in self.unsynced:
            assert isinstance(self._synced, bytearray)
            change.make(self._synced)
        self.unsynced.clear()

    def fail_sync(self) -> None:
        self.unsynced = [_with_fate(change, Fate.DOUBTFUL) for change in self.unsynced]

    def copy(self) -> "StoredFile":
        self._synced = bytes(self._synced)
        twin = StoredFile(self._synced)
        twin.unsynced = list(self.unsynced)
        return twin

    def survivors(self, chance_of: Callable[[FileChange], float], generator: Random) -> "StoredFile":
        """The file after a power loss. A sector beyond the size that survived is out of reach."""
        if not self.unsynced:
            return self.copy()
        content = bytearray(self._synced)
        size_bytes = len(content)
        for change in self.unsynced:
            chance = 1.0 if change.fate is Fate.SETTLED else chance_of(change)
            if change.resizes and generator.random() < chance:
                size_bytes = change.size_bytes
                del content[size_bytes:]
            _write_sectors(content, change, chance, generator)
        _resize(content, size_bytes)
        return StoredFile(bytes(content))


class NameChange(NamedTuple):
    """Directory entries that change together: a rename takes one away and sets the other."""

    entries: dict[str, StoredFile | None]
    fate: Fate = Fate.UNSYNCED

    def make(self, names: dict[str, StoredFile]) -> None:
        for name, file in self.entries.items():
            if file is None:
                names.pop(name, None)
            else:
                names[name] = file


@dataclass(slots=True)
class StoredNames:
    synced: dict[str, StoredFile] = field(default_factory=dict)
    unsynced: list[NameChange] = field(default_factory=list)
    current: dict[str, StoredFile] = field(default_factory=dict)

    def change(self, entries: dict[str, StoredFile | None], *, fate: Fate = Fate.UNSYNCED) -> None:
        change = NameChange(entries, fate)
        change.make(self.current)
        self.unsynced.append(change)

    def sync(self) -> None:
        if any(change.fate is Fate.DOUBTFUL for change in self.unsynced):
            self.unsynced = [_with_fate(change, Fate.SETTLED) for change in self.unsynced]
            return
        self.synced = dict(self.current)
        self.unsynced.clear()

    def fail_sync(self) -> None:
        self.unsynced = [_with_fate(change, Fate.DOUBTFUL) for change in self.unsynced]

    def files(self) -> list[StoredFile]:
        """Every file that some outcome of a crash can show, each once."""
        found = dict.fromkeys(self.synced.values())
        for change in self.unsynced:
            found.update(dict.fromkeys(file for file in change.entries.values() if file is not None))
        return list(found)

    def copy(self) -> "StoredNames":
        twins = {file: file.copy() for file in self.files()}
        return StoredNames(
            {name: twins[file] for name, file in self.synced.items()},
            [
                NameChange({name: file and twins[file] for name, file in change.entries.items()}, change.fate)
                for change in self.unsynced
            ],
            {name: twins[file] for name, file in self.current.items()},
        )

    def survivors(self, chance_of: Callable[[int, int], float], generator: Random) -> dict[str, StoredFile]:
        """The names after a power loss. Changes of one name keep their order, so that no file is lost between two."""
        names = dict(self.synced)
        stopped: set[str] = set()
        for index, change in enumerate(self.unsynced):
            survives = stopped.isdisjoint(change.entries) and generator.random() < chance_of(index, len(self.unsynced))
            if survives or change.fate is Fate.SETTLED:
                change.make(names)
            else:
                stopped.update(change.entries)
        return names


def _resize(content: bytearray, size_bytes: int) -> None:
    if size_bytes < len(content):
        del content[size_bytes:]
    elif size_bytes > len(content):
        content.extend(bytes(size_bytes - len(content)))


def _write_sectors(content: bytearray, change: FileChange, chance: float, generator: Random) -> None:
    position, data = change.position, change.data
    if not data or chance <= 0.0:
        return
    end = position + len(data)
    if end > len(content):
        _resize(content, end)
    if chance >= 1.0:
        content[position:end] = data
        return
    start = position
    while start < end:
        sector_end = min(end, start - start % SECTOR_BYTES + SECTOR_BYTES)
        if generator.random() < chance:
            content[start:sector_end] = data[start - position : sector_end - position]
        start = sector_end


Change = TypeVar("Change", FileChange, NameChange)


def _with_fate(change: Change, fate: Fate) -> Change:
    return change._replace(fate=fate) if change.fate is Fate.UNSYNCED else change
