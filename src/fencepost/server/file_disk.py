"""The data folder as real files: the journal's `Disk` over the operating system.

The folder is made with mode 0700, its files with 0600. One process owns it: a `flock` on `owner.lock`, which holds
the owner's pid for the message that the second process gets. The kernel drops the lock when its owner dies, however it
dies. The lock file is not a file of the journal and `list_names` leaves it out.

Errors are those of `journal/disk.py`: no room is `DiskFull`; an error while bytes go to the device, at the write or at
the sync, is `SyncFailed`; anything else stays the `OSError` that it is.
"""

import errno
import fcntl
import mmap
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from fencepost.journal.disk import DiskFull, FolderInUse, SyncFailed
from fencepost.types import Buffer

LOCK_NAME = "owner.lock"
PIECES_PER_WRITE_MAX = os.sysconf("SC_IOV_MAX") if hasattr(os, "sysconf") else 16
BYTES_PER_WRITE_MAX = 1 << 20
"""For a write of 2 MB the page cache takes pages of that size, and those a virtual machine may have given back to its
host: getting one again takes five times as long as the copy (docs/benchmarks.md). `send_arrow` of 300 MB takes 4.0 s
and without it 4.8 (medians of 12 runs in turns on a busy machine)."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_ZEROS = bytes(1 << 20)


class RealFile:
    """An open file of the data folder."""

    def __init__(self, name: str, descriptor: int) -> None:
        self._name = name
        self._descriptor = descriptor
        self._view: memoryview | None = None

    @property
    def name(self) -> str:
        return self._name

    def size_bytes(self) -> int:
        return os.fstat(self._descriptor).st_size

    def pread(self, size_bytes: int, position: int) -> bytes:
        data = os.pread(self._descriptor, size_bytes, position)
        if len(data) in (0, size_bytes):
            return data
        pieces = [data]
        missing_bytes = size_bytes - len(data)
        while missing_bytes and data:
            data = os.pread(self._descriptor, missing_bytes, position + size_bytes - missing_bytes)
            pieces.append(data)
            missing_bytes -= len(data)
        return b"".join(pieces)

    def will_read(self, ranges: Sequence[tuple[int, int]]) -> None:
        if hasattr(os, "RWF_NOWAIT") and not (self._has_cached(ranges[0][0]) and self._has_cached(ranges[-1][0])):
            for start, end in ranges:
                os.posix_fadvise(self._descriptor, start, end - start, os.POSIX_FADV_WILLNEED)

    def _has_cached(self, position: int) -> bool:
        """Whether a read of that byte would not wait. Asking costs much less than telling about many ranges."""
        try:
            os.preadv(self._descriptor, [bytearray(1)], position, os.RWF_NOWAIT)
        except OSError:
            return False
        return True

    def pwritev(self, pieces: Sequence[Buffer], position: int) -> None:
        if position < 0:
            # The system would take -1 as "wherever the last write ended".
            raise _error(errno.EINVAL, self._name)
        try:
            for call in _calls(pieces):
                position = self._write_all(call, position)
        except OSError as error:
            _raise_as_disk_error(error, self._name)

    def _write_all(self, pieces: Sequence[Buffer], position: int) -> int:
        size_bytes = sum(map(len, pieces))
        written_bytes = os.pwritev(self._descriptor, pieces, position)
        while written_bytes < size_bytes:
            rest = _without_first_bytes(pieces, written_bytes)
            written_bytes += os.pwritev(self._descriptor, rest, position + written_bytes)
        return position + size_bytes

    def datasync(self) -> None:
        if self._descriptor == -1:
            raise _error(errno.EBADF, self._name)
        try:
            _datasync(self._descriptor)
        except OSError as error:
            raise SyncFailed(f"cannot sync {self._name}: {error.strerror}") from error

    def truncate(self, size_bytes: int) -> None:
        try:
            os.ftruncate(self._descriptor, size_bytes)
        except OSError as error:
            _raise_as_disk_error(error, self._name)

    def map(self) -> memoryview:
        size_bytes = self.size_bytes()
        if size_bytes == 0:
            return memoryview(b"")
        if self._view is None or len(self._view) != size_bytes:
            self._view = memoryview(mmap.mmap(self._descriptor, size_bytes, prot=mmap.PROT_READ))
        return self._view

    def close(self) -> None:
        # The mapping goes with the last view of it: a reader that still holds a slice must not be cut off.
        self._view = None
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor != -1:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


class FileDisk:
    """One data folder of the operating system."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._lock_descriptor = -1
        if not self._folder.is_dir():
            self._folder.mkdir(mode=0o700, parents=True)
            _sync_folder(self._folder.absolute().parent)

    def lock_owner(self) -> None:
        descriptor = os.open(self._folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise FolderInUse(f"data folder {self._folder} is in use by process {owner}") from None
        except OSError:
            os.close(descriptor)
            raise
        self._lock_descriptor = descriptor

    def unlock_owner(self) -> None:
        # The file stays: unlinking it would let two processes each lock a file of that name.
        descriptor, self._lock_descriptor = self._lock_descriptor, -1
        if descriptor != -1:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def list_names(self) -> list[str]:
        with os.scandir(self._folder) as entries:
            return sorted(entry.name for entry in entries if entry.name != LOCK_NAME and entry.is_file())

    def create(self, name: str, *, size_bytes: int) -> RealFile:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(self._folder / name, flags, 0o600)
        try:
            _allocate(descriptor, size_bytes)
        except OSError as error:
            os.close(descriptor)
            self.unlink(name)
            _raise_as_disk_error(error, name)
        return RealFile(name, descriptor)

    def open(self, name: str, *, writable: bool = False) -> RealFile:
        flags = (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC
        return RealFile(name, os.open(self._folder / name, flags))

    def rename(self, old_name: str, new_name: str) -> None:
        (self._folder / old_name).replace(self._folder / new_name)

    def unlink(self, name: str) -> None:
        (self._folder / name).unlink()

    def sync_folder(self) -> None:
        try:
            _sync_folder(self._folder)
        except OSError as error:
            raise SyncFailed(f"cannot sync {self._folder}: {error.strerror}") from error

    def __del__(self) -> None:
        # Not `unlock_owner`: in a forked child that would take the lock away from the parent.
        if self._lock_descriptor != -1:
            os.close(self._lock_descriptor)


def _allocate(descriptor: int, size_bytes: int) -> None:
    if size_bytes == 0:
        return
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, 0, size_bytes)
            return
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
    # The file system cannot promise room: writing zeros takes it.
    position = 0
    while position < size_bytes:
        position += os.pwrite(descriptor, _ZEROS[: size_bytes - position], position)


def _datasync(descriptor: int) -> None:
    if sys.platform == "darwin":
        # Its fsync stops at the drive's cache.
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _calls(pieces: Sequence[Buffer]) -> Iterator[Sequence[Buffer]]:
    """What one call of the operating system writes, and the next."""
    if len(pieces) <= PIECES_PER_WRITE_MAX and sum(map(len, pieces)) <= BYTES_PER_WRITE_MAX:
        yield pieces
        return
    call: list[Buffer] = []
    room_bytes = BYTES_PER_WRITE_MAX
    for piece in pieces:
        rest = memoryview(piece)
        while len(rest):
            part, rest = rest[:room_bytes], rest[room_bytes:]
            call.append(part)
            room_bytes -= len(part)
            if room_bytes == 0 or len(call) == PIECES_PER_WRITE_MAX:
                yield call
                call, room_bytes = [], BYTES_PER_WRITE_MAX
    if call:
        yield call


def _without_first_bytes(pieces: Sequence[Buffer], skipped_bytes: int) -> list[memoryview]:
    rest = []
    for piece in pieces:
        view = memoryview(piece)
        if skipped_bytes < len(view):
            rest.append(view[skipped_bytes:])
        skipped_bytes = max(0, skipped_bytes - len(view))
    return rest


def _error(number: int, name: str) -> OSError:
    return OSError(number, os.strerror(number), name)


def _raise_as_disk_error(error: OSError, name: str) -> NoReturn:
    if error.errno in _NO_ROOM:
        raise DiskFull(f"no room for {name}: {error.strerror}") from error
    if error.errno == errno.EIO:
        raise SyncFailed(f"cannot write {name}: {error.strerror}") from error
    raise error
