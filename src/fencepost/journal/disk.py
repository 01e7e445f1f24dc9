"""One data folder, as the journal sees it: files are reached through this interface and in no other way.

Two things stand behind it: real files (`server/file_disk.py`) and a simulated disk that loses what was never
synced (`lab/simulated_disk.py`). What it promises, and what the simulation takes away:

* `pwritev` and `truncate` are durable only after `datasync` of that file returned;
* names made by `create`, `rename` and `unlink` are durable only after `sync_folder` returned;
* `rename` replaces an existing name atomically: after a crash the old or the new file is there, never a mix;
* a `datasync` or `sync_folder` that failed proves nothing about earlier writes, and neither does a later success:
  the caller must stop (`SyncFailed`).
"""

from collections.abc import Sequence
from typing import Protocol

from fencepost.errors import FencepostError
from fencepost.types import Buffer


class DiskFull(FencepostError):  # noqa: N818
    """There is no room for a file of the size asked for. Nothing was changed."""


class SyncFailed(FencepostError):  # noqa: N818
    """The operating system could not make written bytes durable. The broker must stop."""


class FolderInUse(FencepostError):  # noqa: N818
    """Another process owns the data folder."""


class DiskFile(Protocol):
    """An open file."""

    @property
    def name(self) -> str: ...

    def size_bytes(self) -> int: ...

    def pread(self, size_bytes: int, position: int) -> bytes:
        """At most `size_bytes`; fewer only at the end of the file."""

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """A hint before several reads: these bytes, each from a start to an end, are wanted soon."""

    def pwritev(self, pieces: Sequence[Buffer], position: int) -> None:
        """Write all pieces, one after the other, from `position` on. Raises `DiskFull` if the file would have to
        grow and there is no room; what part of the pieces was written is then unknown."""

    def datasync(self) -> None: ...

    def truncate(self, size_bytes: int) -> None: ...

    def map(self) -> memoryview:
        """The whole file, read-only, memory-mapped where that is possible. Valid until `close`."""

    def close(self) -> None: ...


class Disk(Protocol):
    """One data folder."""

    def lock_owner(self) -> None:
        """Make this process the owner of the folder, or raise `FolderInUse` naming the owner."""

    def unlock_owner(self) -> None: ...

    def list_names(self) -> list[str]:
        """All file names, sorted."""

    def create(self, name: str, *, size_bytes: int) -> DiskFile:
        """A new file (an error if it exists) of zeros, with room for `size_bytes` taken from the disk now, so that
        a full disk shows here (`DiskFull`, and the name does not exist) and not at a later write."""

    def open(self, name: str, *, writable: bool = False) -> DiskFile: ...

    def rename(self, old_name: str, new_name: str) -> None: ...

    def unlink(self, name: str) -> None: ...

    def sync_folder(self) -> None: ...
