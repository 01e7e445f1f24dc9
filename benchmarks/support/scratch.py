"""A folder for the files of a benchmark, always removed, and a way to make them cold."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "build"


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="benchmark-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def settle(folder: Path) -> None:
    """Write back every file of the folder, so that one measurement does not pay for the one before."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)


def make_cold(folder: Path) -> None:
    """Drop the folder's files from the page cache of this machine (a host below it may still have them)."""
    settle(folder)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
