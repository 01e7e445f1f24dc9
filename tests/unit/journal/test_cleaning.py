"""Cleaning: what goes, what stays, and what no policy can make it drop."""

from dataclasses import dataclass, field

import pytest

from fencepost.errors import CorruptLog, InvariantBroken
from fencepost.journal.retention import NO_LIMIT, Retention
from fencepost.records.header import read_header, write_header
from fencepost.types import Buffer
from tests.crash.workload import clean
from tests.unit.journal.driver import ALL_OFFSETS, JournalDriver, RetentionPolicy

ALL = 2**62


@dataclass
class Compactor:
    """Keeps the offsets it is told to; everything else of partition 1 goes."""

    kept: dict[int, bytes] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)

    def start_offset(self, partition_ref: int) -> int:
        return 0

    def is_compacted(self, partition_ref: int) -> bool:
        return partition_ref == 1

    def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
        header = read_header(batch)
        self.seen.append(header.base_offset)
        payload = self.kept.get(header.base_offset)
        return None if payload is None else write_header(header, payload) + payload


def segments_of(driver: JournalDriver, *payload_groups: list[bytes]) -> None:
    """One sealed segment per group, each closed by a checkpoint."""
    for payloads in payload_groups:
        for payload in payloads:
            driver.write(1, payload)
            driver.write(2, payload)
        driver.checkpoint(b"state")
        driver.restart()


@pytest.fixture
def driver() -> JournalDriver:
    return JournalDriver()


def test_without_a_checkpoint_nothing_is_dropped(driver: JournalDriver) -> None:
    for _ in range(10):
        driver.write(1, bytes(1500))
    driver.restart()
    clean(driver.journal, RetentionPolicy({1: ALL}))
    assert driver.read() == driver.appended[1]
    driver.kill()
    assert driver.read() == driver.appended[1]


def test_nothing_behind_the_older_of_two_checkpoints_is_dropped(driver: JournalDriver) -> None:
    segments_of(driver, [b"a"], [b"b"], [b"c"], [b"d"])
    clean(driver.journal, RetentionPolicy({1: ALL, 2: ALL}))
    assert driver.journal.kept_checkpoints() == {9, 12}
    assert driver.read(1) == driver.appended[1][3:]
    driver.kill()
    assert driver.read(1) == driver.appended[1][3:]
    assert driver.replayed() == [(12, b"state")]


def test_an_unsynced_checkpoint_covers_nothing(driver: JournalDriver) -> None:
    segments_of(driver, [b"a"])
    driver.write(1, b"b")
    driver.journal.append_checkpoint(b"pending")
    assert driver.journal.kept_checkpoints() == {3}
    driver.journal.commit()
    assert driver.journal.kept_checkpoints() == {3, 5}


def test_dead_segments_at_the_front_are_unlinked(driver: JournalDriver) -> None:
    segments_of(driver, [b"a"], [b"b"], [b"c"], [b"d"])
    cleaning = driver.journal.begin_cleaning(RetentionPolicy({1: ALL, 2: ALL}))
    assert cleaning is not None
    assert cleaning.drops_all
    cleaning.run()
    driver.journal.finish_cleaning(cleaning)
    assert driver.segment_names()[0] == "00000000000000000007.journal"
    assert driver.journal.first_offset(1) == 2


def test_live_entries_keep_position_order_and_bytes(driver: JournalDriver) -> None:
    segments_of(driver, [b"a", b"b"], [b"c"], [b"d"], [b"e"])
    assert clean(driver.journal, RetentionPolicy({1: 2}))
    assert driver.read(1) == driver.appended[1][2:]
    assert driver.read(2) == driver.appended[2]
    driver.kill()
    assert driver.read(1) == driver.appended[1][2:]
    assert driver.read(2) == driver.appended[2]
    assert driver.journal.last_position == 14


def test_small_neighbours_are_merged_even_when_nothing_is_dropped() -> None:
    driver = JournalDriver(segment_bytes=1 << 16)
    segments_of(driver, *[[b"x"]] * 20)
    assert len(driver.segment_names()) == 20
    clean(driver.journal, RetentionPolicy())
    assert len(driver.segment_names()) == 1
    for _ in range(2):
        assert [driver.read(1), driver.read(2)] == [driver.appended[1], driver.appended[2]]
        driver.kill()
    assert clean(driver.journal, RetentionPolicy()) == 0


def test_a_segment_with_little_garbage_is_left_alone() -> None:
    driver = JournalDriver(segment_bytes=4096)
    for _ in range(3):
        driver.write(1, b"")
        driver.write(2, bytes(2500))
        driver.checkpoint(b"state")
        driver.restart()
    assert clean(driver.journal, RetentionPolicy({1: 1})) == 0
    assert clean(driver.journal, RetentionPolicy({2: 1})) == 1


def test_compaction_rewrites_batches_in_place(driver: JournalDriver) -> None:
    segments_of(driver, [b"aaaa", b"bbbb", b"cccc"], [b"d"], [b"e"])
    compactor = Compactor({1: b"B", 3: b"d"})
    clean(driver.journal, compactor)
    found = driver.read(1)
    assert [read_header(batch).base_offset for batch in found] == [1, 3, 4]
    assert found[0][61:] == b"B"
    assert found[1:] == driver.appended[1][3:]
    assert driver.read(2) == driver.appended[2]
    driver.kill()
    assert driver.read(1) == found
    assert driver.read(1, 2) == found[1:]


def test_compaction_is_not_asked_about_what_no_two_checkpoints_cover(driver: JournalDriver) -> None:
    segments_of(driver, [b"a"], [b"b"], [b"c"])
    compactor = Compactor()
    clean(driver.journal, compactor)
    assert compactor.seen == [0, 1]


@pytest.mark.parametrize("payload", [b"larger than before", b"other offsets"])
def test_compaction_that_breaks_the_rules_is_refused_and_changes_nothing(driver: JournalDriver, payload: bytes) -> None:
    segments_of(driver, [b"a"], [b"b"], [b"c"])

    class Breaker(Compactor):
        def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
            header = read_header(batch)
            if payload == b"other offsets":
                return write_header(header._replace(base_offset=header.base_offset + 1), b"")
            return write_header(header, payload) + payload

    with pytest.raises(InvariantBroken, match="smaller batch with the same offsets"):
        clean(driver.journal, Breaker())
    driver.kill()
    assert driver.read(1) == driver.appended[1]


def test_readers_see_the_old_segments_until_cleaning_is_finished(driver: JournalDriver) -> None:
    segments_of(driver, [b"a"], [b"b"], [b"c"])
    cleaning = driver.journal.begin_cleaning(RetentionPolicy({1: 1}))
    assert cleaning is not None
    cleaning.run()
    assert driver.read(1) == driver.appended[1]
    driver.journal.finish_cleaning(cleaning)
    assert driver.read(1) == driver.appended[1][1:]


def test_commits_go_on_while_cleaning_runs(driver: JournalDriver) -> None:
    segments_of(driver, [b"a"], [b"b"], [b"c"])
    cleaning = driver.journal.begin_cleaning(RetentionPolicy({1: 1}))
    assert cleaning is not None
    for _ in range(10):
        driver.write(1, bytes(1500))
    cleaning.run()
    driver.write(1, b"last")
    driver.journal.finish_cleaning(cleaning)
    assert driver.read(1) == driver.appended[1][1:]
    driver.kill()
    assert driver.read(1) == driver.appended[1][1:]


def test_a_damaged_segment_is_not_cleaned_but_stays_as_it_is(driver: JournalDriver) -> None:
    segments_of(driver, [b"needle", b"b"], [b"c"], [b"d"], [b"e"])
    name = driver.segment_names()[0]
    place = driver.disk.open(name).pread(4096, 0).rindex(b"needle")
    driver.disk.flip_bit(name, position=place, bit=0)
    cleaning = driver.journal.begin_cleaning(RetentionPolicy({1: 1}))
    assert cleaning is not None
    with pytest.raises(CorruptLog, match=f"{name}, byte .*partition reference 2"):
        cleaning.run()
    driver.journal.finish_cleaning(cleaning)
    assert driver.read(1) == driver.appended[1]
    assert [n for n in driver.disk.list_names() if n.endswith(".tmp")] == []


def test_retention_by_time_stops_at_the_first_batch_that_is_young_enough(driver: JournalDriver) -> None:
    for timestamp_ms in (100, 200, 150, 300, 100):
        driver.write(1, b"x", record_count=2, timestamp_ms=timestamp_ms)
    driver.restart()

    def start(retention_ms: int, end_offset: int = ALL_OFFSETS) -> int | None:
        retention = Retention(retention_ms=retention_ms)
        return driver.journal.retention_start_offset(1, retention, end_offset=end_offset, now_ms=1000)

    assert start(900) is None
    assert start(899) == 2
    assert start(750) == 6
    assert start(0) == 10
    assert start(0, end_offset=5) == 4
    assert start(NO_LIMIT) is None


def test_retention_by_size_keeps_at_least_what_was_asked_for(driver: JournalDriver) -> None:
    for _ in range(5):
        driver.write(1, bytes(39))
    driver.restart()
    driver.write(1, bytes(39))

    def start(retention_bytes: int) -> int | None:
        retention = Retention(retention_bytes=retention_bytes)
        return driver.journal.retention_start_offset(1, retention, end_offset=ALL_OFFSETS, now_ms=0)

    assert [start(n) for n in (600, 501, 500, 499, 100, 1, 0, NO_LIMIT)] == [None, None, 1, 1, 5, 5, 6, None]
