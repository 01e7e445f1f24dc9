"""Damage that no crash explains: it is noticed and named, and nothing wrong is ever served."""

from contextlib import suppress

import pytest

from fencepost.errors import CorruptLog
from fencepost.journal.disk import DiskFull, SyncFailed
from fencepost.journal.frames import FRAME_HEADER_BYTES
from fencepost.journal.frontier import FRONTIER_FRAME_BYTES
from fencepost.journal.segment_header import HEADER_BYTES
from fencepost.lab.simulated_disk import SimulatedDisk
from tests.crash.workload import clean
from tests.unit.journal.driver import JournalDriver, RetentionPolicy

FIRST_SEGMENT = "00000000000000000001.journal"
FIRST_INDEX = "00000000000000000001.index"
FIRST_FRAME = HEADER_BYTES + FRONTIER_FRAME_BYTES
FIRST_PAYLOAD = FIRST_FRAME + FRAME_HEADER_BYTES


@pytest.fixture
def driver() -> JournalDriver:
    return JournalDriver()


def test_every_flipped_bit_below_the_frontier_stops_start_up() -> None:
    driver = JournalDriver()
    for payload in (b"first", b"second", b"third"):
        driver.write(7, payload)
    frontier_place = driver.journal._open_segments[0].end_place - len(driver.appended[7][-1]) - FRAME_HEADER_BYTES
    for place in range(frontier_place - FRONTIER_FRAME_BYTES):
        damaged = driver.disk.snapshot()
        damaged.flip_bit(FIRST_SEGMENT, position=place, bit=place % 8)
        with pytest.raises(CorruptLog, match=FIRST_SEGMENT):
            JournalDriver(damaged)


def test_a_flipped_bit_in_a_payload_names_segment_byte_and_partition(driver: JournalDriver) -> None:
    driver.write(7, b"payload")
    driver.write(7, b"next")
    driver.disk.flip_bit(FIRST_SEGMENT, position=FIRST_PAYLOAD + 61, bit=0)
    with pytest.raises(CorruptLog, match=rf"{FIRST_SEGMENT}, byte {FIRST_FRAME}, partition reference 7: .*salvage"):
        driver.kill()


def test_a_flipped_bit_in_the_last_group_is_seen_after_a_clean_close(driver: JournalDriver) -> None:
    driver.write(7, b"only")
    driver.journal.close()
    driver.disk.flip_bit(FIRST_SEGMENT, position=FIRST_PAYLOAD + 61, bit=0)
    driver.disk.delete(FIRST_INDEX)
    with pytest.raises(CorruptLog, match=f"byte {FIRST_FRAME}, partition reference 7"):
        driver.kill()


def test_a_torn_last_group_is_no_damage(driver: JournalDriver) -> None:
    driver.write(1, b"kept")
    place = driver.journal._open_segments[0].end_place
    driver.write(1, b"torn")
    driver.disk.flip_bit(FIRST_SEGMENT, position=place, bit=0)
    driver.kill()
    assert driver.read() == driver.appended[1][:1]
    assert driver.journal.last_position == 1


def test_what_follows_a_cut_tail_never_comes_back(driver: JournalDriver) -> None:
    """The frames behind the torn one are whole; a later, shorter group must not make them follow it."""
    driver.write(1, b"kept")
    place = driver.journal._open_segments[0].end_place
    for payload in (b"torn", b"whole", b"whole too"):
        driver.append(1, payload)
    driver.journal.commit()
    driver.disk.flip_bit(FIRST_SEGMENT, position=place + FRONTIER_FRAME_BYTES, bit=0)
    driver.kill()
    del driver.appended[1][1:]
    driver.end_offsets[1] = 1
    driver.write(1, b"torn")
    for _ in range(3):
        driver.kill()
        assert driver.read() == driver.appended[1]
        assert driver.journal.last_position == 2


def test_a_copy_of_a_frontier_frame_inside_a_payload_proves_nothing(driver: JournalDriver) -> None:
    driver.write(1, b"x")
    written = driver.disk.open(FIRST_SEGMENT).pread(driver.journal._open_segments[0].end_place, 0)
    place = len(written)
    driver.append(1, b"torn")
    driver.append(1, written)
    driver.journal.commit()
    driver.disk.flip_bit(FIRST_SEGMENT, position=place + FRONTIER_FRAME_BYTES, bit=0)
    driver.kill()
    assert driver.read() == driver.appended[1][:1]


def test_a_bit_flipped_while_running_is_never_served_and_others_live(driver: JournalDriver) -> None:
    driver.write(7, b"bad")
    driver.write(8, b"good")
    driver.disk.flip_bit(FIRST_SEGMENT, position=FIRST_PAYLOAD + 61, bit=3)
    with pytest.raises(CorruptLog, match=f"{FIRST_SEGMENT}, byte {FIRST_FRAME}, partition reference 7, offsets 0 to 0"):
        driver.read(7)
    assert driver.read(8) == driver.appended[8]


def test_a_lost_segment_stops_start_up(driver: JournalDriver) -> None:
    for _ in range(3):
        driver.write()
        driver.restart()
    driver.disk.delete(driver.segment_names()[1])
    with pytest.raises(CorruptLog, match="a segment file is missing"):
        driver.kill()


def test_an_unsealed_segment_before_the_last_one_stops_start_up(driver: JournalDriver) -> None:
    driver.write()
    driver.restart()
    driver.write()
    driver.restart()
    size_bytes = driver.disk.open(FIRST_SEGMENT).size_bytes()
    driver.disk.flip_bit(FIRST_SEGMENT, position=size_bytes - 1, bit=0)
    driver.disk.delete(FIRST_INDEX)
    with pytest.raises(CorruptLog, match=FIRST_SEGMENT):
        driver.kill()


@pytest.mark.parametrize("fault", ["lost", "head damaged", "columns damaged", "of another segment", "cut short"])
def test_an_index_that_is_lost_or_wrong_is_rebuilt(driver: JournalDriver, fault: str) -> None:
    for number in range(4):
        driver.write(number % 2, bytes(300))
    driver.restart()
    driver.write(0, b"later")
    driver.journal.close()
    index = driver.disk.open(FIRST_INDEX, writable=True)
    if fault == "lost":
        driver.disk.delete(FIRST_INDEX)
    elif fault == "head damaged":
        driver.disk.flip_bit(FIRST_INDEX, position=20, bit=0)
    elif fault == "columns damaged":
        driver.disk.flip_bit(FIRST_INDEX, position=index.size_bytes() - 1, bit=0)
    elif fault == "of another segment":
        other = driver.disk.open("00000000000000000005.index")
        index.truncate(0)
        index.pwritev([other.pread(other.size_bytes(), 0)], 0)
    else:
        index.truncate(index.size_bytes() - 1)
    driver.kill()
    assert [driver.read(0), driver.read(1)] == [driver.appended[0], driver.appended[1]]
    assert len(driver.replayed()) == 5


def test_a_bad_newest_checkpoint_means_the_older_one_and_a_longer_replay(driver: JournalDriver) -> None:
    driver.write(1, b"a")
    driver.checkpoint(b"older")
    driver.write(1, b"b")
    driver.checkpoint(b"newest")
    driver.write(1, b"c")
    place = driver.disk.open(FIRST_SEGMENT).pread(4096, 0).index(b"newest")
    driver.disk.flip_bit(FIRST_SEGMENT, position=place, bit=0)
    expected = [(2, b"older"), (3, driver.appended[1][1]), (5, driver.appended[1][2])]
    driver.kill()
    assert driver.replayed() == expected
    driver.kill()
    assert driver.replayed() == expected


def test_a_checkpoint_that_goes_bad_in_a_sealed_segment_is_passed_over(driver: JournalDriver) -> None:
    driver.write(1, b"a")
    driver.checkpoint(b"older")
    driver.checkpoint(b"newest")
    driver.write(1, b"b")
    driver.journal.close()
    place = driver.disk.open(FIRST_SEGMENT).pread(4096, 0).index(b"newest")
    for position in (place, place - FRAME_HEADER_BYTES):
        damaged = driver.disk.snapshot()
        damaged.flip_bit(FIRST_SEGMENT, position=position, bit=0)
        assert JournalDriver(damaged).replayed() == [(2, b"older"), (4, driver.appended[1][1])]


def test_without_any_good_checkpoint_everything_is_replayed_if_nothing_was_dropped(driver: JournalDriver) -> None:
    driver.write(1, b"a")
    driver.checkpoint(b"only")
    driver.write(1, b"b")
    place = driver.disk.open(FIRST_SEGMENT).pread(4096, 0).index(b"only")
    driver.disk.flip_bit(FIRST_SEGMENT, position=place, bit=0)
    driver.kill()
    assert [position for position, _ in driver.replayed()] == [1, 3]


def cleaned_driver() -> JournalDriver:
    driver = JournalDriver()
    driver.write(1, b"a")
    driver.restart()
    for state in (b"first state", b"second state"):
        driver.checkpoint(state)
        driver.write(1, b"b")
        driver.restart()
    assert clean(driver.journal, RetentionPolicy({1: 1}))
    driver.journal.close()
    return driver


@pytest.mark.parametrize("lost", [(b"second state",), (b"first state",)])
def test_after_cleaning_one_of_the_two_checkpoints_is_enough(lost: tuple[bytes, ...]) -> None:
    driver = cleaned_driver()
    flip_all(driver.disk, lost)
    driver.kill()
    assert driver.replayed()[-1] == (5, driver.appended[1][2])


def test_after_cleaning_start_up_is_refused_without_any_checkpoint() -> None:
    driver = cleaned_driver()
    flip_all(driver.disk, (b"first state", b"second state"))
    with pytest.raises(CorruptLog, match="cleaning has dropped entries up to 1 and no state checkpoint"):
        driver.kill()


def flip_all(disk: SimulatedDisk, needles: tuple[bytes, ...]) -> None:
    for name in disk.list_names():
        data = disk.open(name).pread(1 << 20, 0)
        for needle in needles:
            if needle in data:
                disk.flip_bit(name, position=data.index(needle), bit=0)


def test_after_a_failed_sync_the_journal_is_dead(driver: JournalDriver) -> None:
    driver.write(1, b"synced")
    driver.append(1, b"not synced")
    group = driver.journal.begin_commit()
    assert group is not None
    driver.disk.fail_next_sync()
    with pytest.raises(SyncFailed):
        group.write_and_sync()
    for call in (
        group.write_and_sync,
        lambda: driver.journal.finish_commit(group),
        lambda: driver.append(1),
        driver.journal.begin_commit,
        lambda: driver.checkpoint(b""),
        lambda: driver.journal.begin_cleaning(RetentionPolicy()),
    ):
        with pytest.raises(SyncFailed):
            call()
    assert driver.journal.synced_position == 1
    driver.journal.close()
    driver.journal = driver._open()
    assert driver.read()[0] == driver.appended[1][0]


def test_a_full_disk_refuses_before_anything_is_taken_and_goes_on_with_room() -> None:
    disk = SimulatedDisk(capacity_bytes=10_000)
    driver = JournalDriver(disk, segment_bytes=4096)
    with suppress(DiskFull):
        for _ in range(100):
            driver.append(1, bytes(500))
    accepted = list(driver.appended[1])
    assert 5 < len(accepted) < 20
    position = driver.journal.last_position
    driver.journal.commit()
    assert driver.read() == accepted
    with pytest.raises(DiskFull):
        driver.append(1, bytes(500))
    assert driver.journal.last_position == position
    disk.capacity_bytes = 100_000
    assert driver.write(1, bytes(500)) == position + 1
    driver.kill()
    assert driver.read() == driver.appended[1]
    assert len(driver.appended[1]) == len(accepted) + 1


def test_a_full_disk_during_a_commit_can_be_tried_again(driver: JournalDriver) -> None:
    """Preallocation makes it rare; file systems that write elsewhere can still run out."""
    driver.append(1, bytes(100))
    group = driver.journal.begin_commit()
    assert group is not None
    part = group.parts[0]
    part.segment.file.truncate(0)
    driver.disk.capacity_bytes = 10
    with pytest.raises(DiskFull):
        group.write_and_sync()
    driver.disk.capacity_bytes = None
    group.write_and_sync()
    driver.journal.finish_commit(group)
    assert driver.read() == driver.appended[1]
    driver.kill()
    assert driver.read() == driver.appended[1]


def test_without_room_for_indexes_the_journal_still_works_and_catches_up() -> None:
    driver = JournalDriver(segment_bytes=2048)
    driver.write(1, bytes(1500))
    driver.append(1, bytes(1500))
    driver.disk.capacity_bytes = sum(driver.disk.open(name).size_bytes() for name in driver.disk.list_names()) - 400
    driver.journal.commit()
    assert FIRST_INDEX not in driver.disk.list_names()
    assert driver.read() == driver.appended[1]
    driver.disk.capacity_bytes = None
    driver.write(1, bytes(1500))
    assert FIRST_INDEX in driver.disk.list_names()
    assert driver.read() == driver.appended[1]


def test_cleaning_without_room_changes_nothing() -> None:
    driver = JournalDriver()
    for _ in range(3):
        driver.write(1, bytes(100))
        driver.write(2, bytes(100))
        driver.checkpoint(b"state")
        driver.restart()
    driver.disk.capacity_bytes = 1
    cleaning = driver.journal.begin_cleaning(RetentionPolicy({1: 2}))
    assert cleaning is not None
    with pytest.raises(DiskFull):
        cleaning.run()
    driver.journal.finish_cleaning(cleaning)
    assert driver.read(1) == driver.appended[1]
    driver.disk.capacity_bytes = None
    assert clean(driver.journal, RetentionPolicy({1: 2}))
    assert [driver.read(1), driver.read(2)] == [driver.appended[1][-1:], driver.appended[2]]
    driver.kill()
    assert [driver.read(1), driver.read(2)] == [driver.appended[1][-1:], driver.appended[2]]
