"""A simulated disk that shows, at each of its operations, what a crash at that moment would leave.

A workload is deterministic, so that one run passes through all of its crash points, and none is run again for each.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

from fencepost.lab.simulated_disk import SimulatedCrash, SimulatedDisk, SimulatedFile
from fencepost.types import Buffer

Watch = Callable[[SimulatedDisk, int], None]
"""Called with the disk as it is when the machine stops, a write that has begun in flight, and with the number of
operations before."""


class WatchedDisk(SimulatedDisk):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch
        self._problem: Exception | None = None
        self._write: tuple[Any, bytes, int] | None = None

    @classmethod
    def over(cls, disk: SimulatedDisk, watch: Watch) -> Self:
        """Begins with what that disk holds."""
        watched = cls(watch)
        watched._names = disk._names.copy()
        return watched

    def run(self, work: Callable[[SimulatedDisk], None]) -> None:
        """Do the work on this disk, its end a crash point too. What the watch finds wrong is raised from here: the
        code under test cannot catch it."""
        try:
            work(self)
            self._show()
        except SimulatedCrash:
            assert self._problem is not None
        if self._problem is not None:
            raise self._problem

    def create(self, name: str, *, size_bytes: int) -> SimulatedFile:
        return self._watched(super().create(name, size_bytes=size_bytes), writable=True)

    def open(self, name: str, *, writable: bool = False) -> SimulatedFile:
        return self._watched(super().open(name, writable=writable), writable=writable)

    def _watched(self, file: SimulatedFile, *, writable: bool) -> SimulatedFile:
        return WatchedFile(self, file.name, file._stored, writable=writable)

    def _begin_operation(self) -> None:
        self._show()
        super()._begin_operation()

    def _show(self) -> None:
        crashed = self.snapshot()
        if self._write is not None:
            stored, data, position = self._write
            twins = dict(zip(self._names.files(), crashed._names.files(), strict=True))
            if stored in twins:
                twins[stored].write(data, position=position, order=self.operation_count + 1)
            crashed._write_in_flight = True
        try:
            self._watch(crashed, self.operation_count)
        except Exception as problem:
            self._problem = problem
            raise SimulatedCrash from problem


class WatchedFile(SimulatedFile):
    _disk: WatchedDisk

    def pwritev(self, pieces: Sequence[Buffer], position: int) -> None:
        data = b"".join(pieces)
        self._disk._write = (self._stored, data, position) if data else None
        try:
            super().pwritev([data], position)
        finally:
            self._disk._write = None
