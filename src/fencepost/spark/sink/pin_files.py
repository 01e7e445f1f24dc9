"""Encoded batches in files, where the driver and its tasks share a machine: a task answers with places, not bytes.

On their way through Spark the bytes of a batch are copied some eight times, which costs more than encoding them. A file
belongs to one attempt of one task, so the places that reach the driver are those of the attempt that Spark counts. The
files live as long as the micro-batch; those of a driver that was killed go when the next one starts.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import uuid
from pathlib import Path

import numpy as np

from fencepost.client.time_limits import Closing
from fencepost.records.header import check_crc
from fencepost.types import Buffer

PREFIX = "fencepost-pinned-"
LOCK = "lock"


class PinFolder(Closing):
    """One for each sink, made when it is first needed."""

    def __init__(self) -> None:
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._lock = -1

    def new(self) -> str:
        """A folder for one micro-batch."""
        if self._temporary is not None and not Path(self._temporary.name).exists():
            self.close()  # somebody has tidied up
        if self._temporary is None:
            remove_abandoned()
            made = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
            self._lock = hold(Path(made.name) / LOCK)
            self._temporary = made
        return tempfile.mkdtemp(dir=self._temporary.name)

    def close(self) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            temporary.cleanup()
            os.close(self._lock)


def hold(path: Path) -> int:
    """As long as this process lives, however it ends. Nobody sees the lock before it is held."""
    made = path.with_suffix(".new")
    descriptor = os.open(made, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    made.rename(path)
    return descriptor


def remove_abandoned() -> None:
    """Folders that no living driver holds. One that is only being made has no lock yet, and stays."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(descriptor)


class BatchFile(Closing):
    """What one attempt of a task has encoded."""

    def __init__(self, folder: str) -> None:
        self.path = f"{folder}/{uuid.uuid4().hex}"
        self._file = Path(self.path).open("wb")  # noqa: SIM115 - closed with this
        self._position = 0

    def append(self, batch: Buffer) -> int:
        """Where the batch begins."""
        position = self._position
        self._file.write(batch)
        self._position += len(batch)
        return position

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class BatchFiles(Closing):
    """The files of a micro-batch, read one after the other: there may be more of them than may be open at once."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._descriptor = -1

    def read(self, path: str, position: int, size_bytes: int) -> memoryview:
        """Memory of the caller's own, to write into."""
        if path != self._path:
            self.close()
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._path = path
        batch = np.empty(size_bytes, np.uint8).data
        found_bytes = os.preadv(self._descriptor, [batch], position)
        if found_bytes != size_bytes or not check_crc(batch):
            raise OSError(f"{path} does not hold what was written to it: {size_bytes} bytes from {position} on")
        return batch

    def close(self) -> None:
        if self._path is not None:
            self._path = None
            os.close(self._descriptor)
