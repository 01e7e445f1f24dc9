"""A real process on real files, killed again and again while it appends, commits and cleans on three threads."""

import subprocess
import sys
from pathlib import Path

from fencepost.journal.dump import verify_folder
from fencepost.server.file_disk import FileDisk
from tests.crash.writer_process import CLEANED_REF, batch_at, next_offsets, open_journal

ROOT = Path(__file__).parent.parent.parent
KILLS = 5
LINES_BEFORE_KILL = 150


def run_and_kill(folder: Path) -> int:
    """The last position that the process acknowledged."""
    command = [sys.executable, "-m", "tests.crash.writer_process", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(LINES_BEFORE_KILL)]
        process.kill()
        # What it printed between our last line and the kill was acknowledged too.
        lines += process.stdout.readlines()
    return int([line for line in lines if line.endswith("\n")][-1])


def test_a_process_killed_while_writing_and_cleaning_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    for _ in range(KILLS):
        acknowledged = run_and_kill(tmp_path)
        journal = open_journal(str(tmp_path))
        assert journal.last_position >= acknowledged
        for partition_ref, end_offset in enumerate(next_offsets(journal)):
            batches = journal.read(partition_ref, 0, end_offset=2**62, max_bytes=2**40)
            first_offset = journal.first_offset(partition_ref)
            assert first_offset is not None
            assert first_offset == 0 or partition_ref == CLEANED_REF
            expected = [batch_at(partition_ref, offset) for offset in range(first_offset, end_offset)]
            found = [bytes(batch) for batch in batches]
            assert found == expected or partition_ref == CLEANED_REF
            assert set(found) <= set(expected)
        assert sum(1 for _ in journal.replay()) > 0
        cleaned_bytes, kept_bytes = journal.size_bytes(CLEANED_REF), journal.size_bytes(0)
        journal.close()
    assert cleaned_bytes < kept_bytes * 0.9, "cleaning ran between the kills"
    assert verify_folder(FileDisk(tmp_path)) == []
