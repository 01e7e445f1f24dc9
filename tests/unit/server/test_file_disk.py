"""The real disk: what the operating system does differently from a wish, and what `FileDisk` makes of it."""

import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fencepost.journal.disk import DiskFull, FolderInUse, SyncFailed
from fencepost.server import file_disk
from fencepost.server.file_disk import FileDisk
from fencepost.types import Buffer

OWN_UNTIL_KILLED = """
import sys
from fencepost.server.file_disk import FileDisk
disk = FileDisk(sys.argv[1])
disk.lock_owner()
print("owned", flush=True)
sys.stdin.read()
"""
FORK_AND_ASK = """
import os, sys
from fencepost.journal.disk import FolderInUse
from fencepost.server.file_disk import FileDisk
disk = FileDisk(sys.argv[1])
disk.lock_owner()
child = os.fork()
if child == 0:
    del disk
    os._exit(0)
os.waitpid(child, 0)
try:
    FileDisk(sys.argv[1]).lock_owner()
except FolderInUse:
    print("still owned")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def disk(folder: Path) -> FileDisk:
    return FileDisk(folder)


def raising(number: int):
    def call(*_arguments: object) -> int:
        raise OSError(number, os.strerror(number))

    return call


def open_files(folder: Path) -> list[str]:
    """What this process has open of the folder, with or without a name; not what brokers of other tests have."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # one that has been closed since
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return [path for path in found if path.startswith(str(folder))]


def test_folder_and_files_are_private_to_their_owner(disk: FileDisk, folder: Path) -> None:
    disk.create("segment", size_bytes=10).close()
    disk.lock_owner()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_missing_parents_of_the_folder_are_made(tmp_path: Path) -> None:
    FileDisk(tmp_path / "a" / "b" / "c").create("segment", size_bytes=1).close()
    assert (tmp_path / "a" / "b" / "c" / "segment").exists()


def test_created_file_takes_its_room_from_the_disk_at_once(disk: FileDisk, folder: Path) -> None:
    disk.create("segment", size_bytes=1 << 20).close()
    assert (folder / "segment").stat().st_blocks * 512 >= 1 << 20
    assert (folder / "segment").read_bytes() == bytes(1 << 20)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_create_without_room_leaves_no_name_and_no_open_file(
    disk: FileDisk, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", raising(number))
    with pytest.raises(DiskFull, match="segment"):
        disk.create("segment", size_bytes=1 << 20)
    assert disk.list_names() == []
    assert open_files(folder) == []


def test_create_writes_zeros_where_the_file_system_cannot_preallocate(
    disk: FileDisk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", raising(errno.EOPNOTSUPP))
    size_bytes = 2 * len(file_disk._ZEROS) + 17
    disk.create("segment", size_bytes=size_bytes).close()
    assert (folder / "segment").stat().st_blocks * 512 >= size_bytes
    assert (folder / "segment").read_bytes() == bytes(size_bytes)


def test_more_pieces_than_one_system_call_takes_are_all_written(disk: FileDisk) -> None:
    pieces = [index.to_bytes(3, "big") for index in range(3 * file_disk.PIECES_PER_WRITE_MAX + 5)]
    file = disk.create("segment", size_bytes=0)
    file.pwritev(pieces, 7)
    assert file.pread(1 << 20, 0) == bytes(7) + b"".join(pieces)


def test_large_writes_are_cut_and_arrive_whole(disk: FileDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    write, sizes = os.pwritev, []

    def watched(descriptor: int, pieces: Sequence[Buffer], position: int) -> int:
        sizes.append(sum(map(len, pieces)))
        return write(descriptor, pieces, position)

    monkeypatch.setattr(os, "pwritev", watched)
    pieces = [b"", b"a" * 700_000, bytearray(b"b" * 700_000), memoryview(b"c" * 3_000_000), b"", b"d"]
    file = disk.create("segment", size_bytes=0)
    file.pwritev(pieces, 3)
    assert file.pread(5_000_000, 0) == bytes(3) + b"".join(pieces)
    assert len(sizes) == 5
    assert max(sizes) == file_disk.BYTES_PER_WRITE_MAX


def test_a_write_that_the_system_cuts_short_is_continued(disk: FileDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_write = os.pwritev

    def write_at_most_five_bytes(descriptor: int, pieces: list[bytes], position: int) -> int:
        return whole_write(descriptor, [b"".join(bytes(piece) for piece in pieces)[:5]], position)

    monkeypatch.setattr(os, "pwritev", write_at_most_five_bytes)
    file = disk.create("segment", size_bytes=0)
    file.pwritev([b"abc", b"", memoryview(b"defghij"), bytearray(b"klmnopqrstu")], 2)
    assert file.pread(100, 0) == bytes(2) + b"abcdefghijklmnopqrstu"


def test_a_read_that_the_system_cuts_short_is_continued(disk: FileDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = disk.create("segment", size_bytes=0)
    file.pwritev([b"0123456789"], 0)
    whole_read = os.pread
    monkeypatch.setattr(
        os, "pread", lambda descriptor, size_bytes, position: whole_read(descriptor, min(3, size_bytes), position)
    )
    assert file.pread(8, 1) == b"12345678"
    assert file.pread(100, 1) == b"123456789"


def test_ranges_that_will_be_read_are_asked_for_together_unless_they_are_in_memory(
    disk: FileDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges = [(0, 10), (50_000, 50_010), (99_000, 100_000)]
    file = disk.create("segment", size_bytes=100_000)
    file.pwritev([bytes(100_000)], 0)
    told = []
    monkeypatch.setattr(os, "posix_fadvise", lambda _descriptor, start, size, _advice: told.append((start, size)))
    file.will_read(ranges)
    assert told == []
    monkeypatch.setattr(os, "preadv", raising(errno.EAGAIN))
    file.will_read(ranges)
    assert told == [(0, 10), (50_000, 10), (99_000, 1_000)]


@pytest.mark.parametrize(
    ("number", "error"), [(errno.ENOSPC, DiskFull), (errno.EDQUOT, DiskFull), (errno.EIO, SyncFailed)]
)
def test_write_errors_are_those_of_the_journals_disk(
    disk: FileDisk, monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception]
) -> None:
    file = disk.create("segment", size_bytes=0)
    monkeypatch.setattr(os, "pwritev", raising(number))
    with pytest.raises(error, match="segment"):
        file.pwritev([b"x"], 0)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_failed_sync_of_a_file_is_fatal_and_names_it(
    disk: FileDisk, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    file = disk.create("segment", size_bytes=0)
    monkeypatch.setattr(file_disk, "_datasync", raising(number))
    with pytest.raises(SyncFailed, match="segment"):
        file.datasync()


def test_failed_sync_of_the_folder_is_fatal_and_leaks_no_descriptor(
    disk: FileDisk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", raising(errno.EIO))
    with pytest.raises(SyncFailed, match="data"):
        disk.sync_folder()
    assert open_files(folder) == []


def test_a_map_follows_later_writes_and_outlives_the_file_in_a_slice(disk: FileDisk) -> None:
    file = disk.create("segment", size_bytes=4096)
    view = file.map()
    file.pwritev([b"later"], 100)
    assert bytes(view[100:105]) == b"later"
    assert view.readonly
    part = view[100:105]
    del view
    file.close()
    assert bytes(part) == b"later"


def test_nothing_stays_open_after_close_nor_after_the_last_reference(disk: FileDisk, folder: Path) -> None:
    for round_number in range(20):
        file = disk.create(f"segment-{round_number}", size_bytes=4096)
        file.map()
        file.close()
        file.close()
        disk.open(f"segment-{round_number}").map()
        disk.sync_folder()
        disk.lock_owner()
        disk.unlock_owner()
    assert open_files(folder) == []


def test_the_second_owner_is_refused_with_folder_and_pid_of_the_first(disk: FileDisk, folder: Path) -> None:
    disk.lock_owner()
    with pytest.raises(FolderInUse) as refusal:
        FileDisk(folder).lock_owner()
    assert str(folder) in str(refusal.value)
    assert str(os.getpid()) in str(refusal.value)
    disk.unlock_owner()
    FileDisk(folder).lock_owner()


def test_the_folder_of_a_killed_process_is_free_again(disk: FileDisk, folder: Path) -> None:
    command = [sys.executable, "-c", OWN_UNTIL_KILLED, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "owned\n"
        with pytest.raises(FolderInUse, match=f"process {owner.pid}$"):
            disk.lock_owner()
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    disk.lock_owner()


def test_a_forked_child_that_ends_does_not_give_the_folder_away(folder: Path) -> None:
    completed = subprocess.run([sys.executable, "-c", FORK_AND_ASK, str(folder)], capture_output=True, text=True)
    assert completed.stdout == "still owned\n", completed.stderr


def test_lock_file_and_subfolders_are_not_files_of_the_journal(disk: FileDisk, folder: Path) -> None:
    disk.lock_owner()
    (folder / "lost+found").mkdir()
    disk.create("b", size_bytes=1).close()
    disk.create("a", size_bytes=1).close()
    assert disk.list_names() == ["a", "b"]
