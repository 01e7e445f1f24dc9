"""The journal as the broker sees it: append, commit, read, look up, restart."""

from collections.abc import Iterator

import pytest

from fencepost.errors import InvariantBroken
from fencepost.journal.disk import FolderInUse
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.journal.segment_header import UnknownFormat
from fencepost.lab.simulated_disk import CrashModel, SimulatedDisk
from fencepost.records.header import read_header
from tests.unit.journal.driver import ALL_OFFSETS, JournalDriver, build_batch, salts


@pytest.fixture
def driver() -> JournalDriver:
    return JournalDriver()


def test_an_empty_journal_has_no_entries(driver: JournalDriver) -> None:
    assert (driver.journal.last_position, driver.journal.synced_position) == (0, 0)
    assert driver.read() == []
    assert driver.replayed() == []
    assert driver.journal.begin_commit() is None
    assert driver.journal.first_offset(1) is None
    assert driver.journal.size_bytes(1) == 0


def test_positions_count_entries_from_one_on(driver: JournalDriver) -> None:
    assert [driver.append(7), driver.append(8), driver.checkpoint(b""), driver.append(7)] == [1, 2, 3, 4]
    assert driver.journal.last_position == 4
    assert driver.journal.synced_position == 3


def test_appends_while_a_group_is_in_flight_go_to_the_next_one(driver: JournalDriver) -> None:
    driver.append(1, b"a")
    group = driver.journal.begin_commit()
    assert group is not None
    driver.append(1, b"b")
    group.write_and_sync()
    assert driver.read() == [], "what is not committed cannot be read"
    driver.journal.finish_commit(group)
    assert driver.journal.synced_position == 1
    assert driver.read() == driver.appended[1][:1]
    driver.journal.commit()
    assert driver.read() == driver.appended[1]


def test_one_group_is_in_flight_at_a_time(driver: JournalDriver) -> None:
    driver.append()
    driver.journal.begin_commit()
    driver.append()
    with pytest.raises(InvariantBroken, match="one commit group"):
        driver.journal.begin_commit()


def test_a_header_that_does_not_describe_the_pieces_is_refused_before_anything_is_taken(driver: JournalDriver) -> None:
    batch = build_batch(0, b"payload")
    with pytest.raises(InvariantBroken, match="the pieces together"):
        driver.journal.append(1, [batch[:-1]], read_header(batch))
    assert driver.write(1, b"next") == 1


@pytest.mark.parametrize("is_restarted", [False, True])
def test_lookups_by_timestamp_find_the_batch(driver: JournalDriver, is_restarted: bool) -> None:
    for timestamp_ms in (100, 300, 200, 300, 50):
        driver.write(1, bytes(900), record_count=2, timestamp_ms=timestamp_ms)
    if is_restarted:
        driver.restart()
    journal = driver.journal

    def first_offset_at(timestamp_ms: int, end_offset: int = ALL_OFFSETS) -> int | None:
        row = journal.offset_for_timestamp(1, timestamp_ms, end_offset=end_offset)
        return row and row.base_offset

    assert [first_offset_at(t) for t in (0, 100, 101, 300, 301)] == [0, 0, 2, 2, None]
    assert first_offset_at(300, end_offset=3) is None
    assert first_offset_at(300, end_offset=4) == 2
    newest = journal.max_timestamp(1, end_offset=ALL_OFFSETS)
    assert newest is not None
    assert (newest.base_offset, newest.last_offset, newest.max_timestamp) == (2, 3, 300)
    visible = journal.max_timestamp(1, end_offset=2)
    assert visible is not None
    assert visible.max_timestamp == 100
    assert journal.max_timestamp(1, end_offset=0) is None


def test_sizes_and_first_offsets_are_those_of_the_partition(driver: JournalDriver) -> None:
    driver.write(1, b"abc")
    driver.restart()
    driver.write(1, b"defg")
    driver.write(2, b"other")
    assert driver.journal.size_bytes(1) == sum(map(len, driver.appended[1]))
    assert driver.journal.first_offset(1) == 0
    assert driver.journal.first_offset(3) is None


def test_a_clean_restart_scans_nothing_and_keeps_all(driver: JournalDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(10):
        driver.write(1, bytes(700))
    driver.journal.close()

    def no_scan(*_: object, **__: object) -> Iterator[None]:
        raise AssertionError("a sealed segment with its index needs no scan")

    monkeypatch.setattr("fencepost.journal.segment_scan.scan_frames", no_scan)
    driver.journal = driver._open()
    assert driver.read() == driver.appended[1]


def test_opening_without_appending_makes_no_segments(driver: JournalDriver) -> None:
    for _ in range(3):
        driver.restart()
        driver.kill()
    assert driver.disk.list_names() == []


def test_reserving_room_and_not_using_it_leaves_nothing_behind(driver: JournalDriver) -> None:
    driver.write(1, bytes(2000))
    driver.journal.reserve([1000, 1000, 1000])
    driver.restart()
    assert driver.segment_names() == ["00000000000000000001.journal"]
    assert [name for name in driver.disk.list_names() if name.endswith(".tmp")] == []
    driver.journal.reserve([100])
    driver.kill()
    assert driver.write(1, b"next") == 2
    assert driver.read() == driver.appended[1]


def test_a_second_owner_is_refused(driver: JournalDriver) -> None:
    with pytest.raises(FolderInUse):
        Journal.open(driver.disk, JournalConfig(), salt=salts())
    driver.journal.close()
    Journal.open(driver.disk, JournalConfig(), salt=salts()).close()


def test_a_refused_folder_is_not_kept_locked(driver: JournalDriver) -> None:
    driver.write()
    driver.journal.close()
    name = driver.segment_names()[0]
    driver.disk.open(name, writable=True).pwritev([b"\x02"], 8)
    for _ in range(2):
        with pytest.raises(UnknownFormat, match=f"{name}: written in storage format 2; .* reads format 1 only"):
            driver._open()


def test_without_waiting_for_the_disk_a_power_loss_may_cut_but_never_stops_start_up() -> None:
    driver = JournalDriver(segment_bytes=8192, syncs_commits=False)
    for number in range(20):
        driver.write(1, bytes([number]) * 600)
    appended = driver.appended[1]
    kept_counts = set()
    for seed in range(40):
        disk = driver.disk.after_crash(CrashModel.POWER_LOST, seed)
        survivor = JournalDriver(disk, segment_bytes=8192)
        found = survivor.read()
        assert found == appended[: len(found)]
        kept_counts.add(len(found))
    assert len(kept_counts) > 1


def test_many_sealed_segments_need_few_open_files() -> None:
    driver = JournalDriver(SimulatedDisk(), segment_bytes=1024)
    for _ in range(300):
        driver.append(1, bytes(700))
    driver.journal.commit()
    assert driver.read() == driver.appended[1]
    open_count = sum(segment._file is not None for segment in driver.journal._directory.segments)
    assert 0 < open_count <= 128
    assert len(driver.replayed()) == 0
    driver.restart()
    assert len(driver.replayed()) == 300


def test_a_huge_checkpoint_after_room_was_reserved_leaves_no_unsealed_segment_behind(driver: JournalDriver) -> None:
    driver.write(1, bytes(2000))
    driver.journal.reserve([1500, 1500])
    driver.checkpoint(bytes(9000))
    driver.write(1, b"next")
    driver.kill()
    assert driver.read() == driver.appended[1]
    assert driver.replayed() == [(2, bytes(9000)), (3, driver.appended[1][1])]
