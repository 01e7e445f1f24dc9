"""How the journal uses the disk where it costs time: blocks written ahead of small groups, reads named beforehand."""

from collections.abc import Sequence

import pytest

from fencepost.journal.commit import PADDING_BYTES, SMALL_GROUP_BYTES_MAX
from fencepost.lab.simulated_disk import SimulatedDisk, SimulatedFile
from fencepost.types import Buffer
from tests.unit.journal.driver import JournalDriver

SEGMENT_BYTES = 4 << 20


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Start and end of every write."""
    writes: list[tuple[int, int]] = []
    real_write = SimulatedFile.pwritev

    def pwritev(file: SimulatedFile, pieces: Sequence[Buffer], position: int) -> None:
        writes.append((position, position + sum(map(len, pieces))))
        real_write(file, pieces, position)

    monkeypatch.setattr(SimulatedFile, "pwritev", pwritev)
    return writes


def test_a_small_group_writes_zeros_ahead_and_the_groups_after_it_write_over_them(
    written: list[tuple[int, int]],
) -> None:
    driver = JournalDriver(segment_bytes=SEGMENT_BYTES)
    for _ in range(3):
        driver.write(1, bytes(1000))
    (_, first_end), (second_start, second_end), (third_start, third_end) = written
    assert first_end >= PADDING_BYTES
    assert second_end - second_start < 2000
    assert second_end == third_start
    assert third_end < first_end
    driver.kill()
    assert driver.read(1) == driver.appended[1]


def test_zeros_are_written_ahead_again_when_groups_have_used_them_up(written: list[tuple[int, int]]) -> None:
    driver = JournalDriver(segment_bytes=SEGMENT_BYTES)
    for _ in range(2 * PADDING_BYTES // (100 << 10)):
        driver.write(1, bytes(100 << 10))
    padded = [end for start, end in written if end - start > SMALL_GROUP_BYTES_MAX]
    assert 2 <= len(padded) < len(written) / 2
    driver.kill()
    assert driver.read(1) == driver.appended[1]


def test_zeros_end_with_the_segment(written: list[tuple[int, int]]) -> None:
    driver = JournalDriver(segment_bytes=8192)
    driver.write(1, bytes(100))
    assert [end for _, end in written] == [8192]


def test_large_groups_and_unsynced_journals_write_nothing_ahead(written: list[tuple[int, int]]) -> None:
    JournalDriver(segment_bytes=SEGMENT_BYTES).write(1, bytes(SMALL_GROUP_BYTES_MAX))
    JournalDriver(segment_bytes=SEGMENT_BYTES, syncs_commits=False).write(1, bytes(1000))
    large, unsynced = (end - start for start, end in written)
    assert large < SMALL_GROUP_BYTES_MAX + 1000
    assert unsynced < 2000


def test_the_disk_is_told_of_scattered_reads_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []
    read = SimulatedFile.pread
    monkeypatch.setattr(SimulatedFile, "will_read", lambda _file, ranges: calls.extend(ranges))
    driver = JournalDriver(SimulatedDisk(), segment_bytes=SEGMENT_BYTES)
    for _ in range(3):
        driver.append(1, b"wanted")
        driver.append(2, bytes(100 << 10))
    driver.journal.commit()

    def pread(file: SimulatedFile, size_bytes: int, position: int) -> bytes:
        assert (position, position + size_bytes) in calls
        return read(file, size_bytes, position)

    monkeypatch.setattr(SimulatedFile, "pread", pread)
    assert driver.read(1) == driver.appended[1]
    assert len(calls) == 3
