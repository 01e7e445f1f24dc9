"""Data folders of every storage format that was ever released still open, with the content they had."""

import shutil
from pathlib import Path
from random import Random

import pytest

from fencepost.journal.dump import dump_frames, verify_folder
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.records.reader import read_records
from fencepost.server.file_disk import FileDisk

V1 = Path(__file__).parent / "v1" / "journal"
FOLDER_BYTES_MAX = 100_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy: opening a folder may seal and index what a kill left open."""
    return Path(shutil.copytree(V1, tmp_path / "journal"))


def values(journal: Journal, partition_ref: int) -> list[tuple[int, bytes | None]]:
    batches = journal.read(partition_ref, 0, end_offset=2**62, max_bytes=2**40)
    return [(record.offset, record.value) for batch in batches for record in read_records(batch)]


def expected(partition_ref: int, start: int, end: int) -> list[tuple[int, bytes | None]]:
    return [(offset, b"value-%d-%d" % (partition_ref, offset)) for offset in range(start, end)]


def test_format_1_opens_with_all_it_held(folder: Path) -> None:
    salt = Random(2)
    for _ in range(2):
        journal = Journal.open(FileDisk(folder), JournalConfig(segment_bytes=4096), salt=lambda: salt.getrandbits(64))
        assert journal.last_position == 93
        assert values(journal, 0) == expected(0, 0, 60)
        assert values(journal, 1) == expected(1, 18, 60)
        assert values(journal, 2) == expected(2, 0, 62)
        checkpoint, last = journal.replay()
        assert (checkpoint.position, bytes(checkpoint.payload)) == (92, b"state at 60")
        assert (last.position, last.partition_ref) == (93, 2)
        journal.close()


def test_format_1_is_whole_and_has_every_kind_of_frame(folder: Path) -> None:
    assert verify_folder(FileDisk(folder)) == []
    dumped = list(dump_frames(FileDisk(folder)))
    assert {frame.kind for frame in dumped} == {"BATCH", "CHECKPOINT", "GROUP", "SEAL", "UNREADABLE"}
    assert {frame.segment.is_cleaned for frame in dumped} == {True, False}
    assert [frame.frame.fault for frame in dumped if frame.frame.fault] == ["nothing was written here"]


def test_the_golden_folder_stays_small() -> None:
    assert sum(path.stat().st_size for path in V1.iterdir()) < FOLDER_BYTES_MAX
