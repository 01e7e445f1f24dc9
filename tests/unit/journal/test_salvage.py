"""Salvage: a damaged folder opens again, consistent, and what was lost is told."""

import pytest

from fencepost.errors import CorruptLog
from fencepost.journal.dump import dump_frames, verify_folder
from fencepost.journal.segment_header import UnknownFormat
from tests.unit.journal.driver import JournalDriver, RetentionPolicy, build_batch

FIRST_SEGMENT = "00000000000000000001.journal"


def flip(driver: JournalDriver, needle: bytes) -> str:
    """Damage the one segment that holds these bytes; its name."""
    for name in driver.segment_names():
        data = driver.disk.open(name).pread(1 << 20, 0)
        if needle in data:
            driver.disk.flip_bit(name, position=data.index(needle), bit=0)
            return name
    raise AssertionError(f"{needle!r} is nowhere")


@pytest.fixture
def driver() -> JournalDriver:
    return JournalDriver()


def test_damage_behind_the_last_checkpoint_cuts_the_journal_there(driver: JournalDriver) -> None:
    driver.write(1, b"alpha")
    driver.checkpoint(b"state")
    for payload in (b"bravo", b"charlie", b"delta"):
        driver.write(1, payload)
    flip(driver, b"charlie")
    with pytest.raises(CorruptLog):
        driver.kill()
    driver.kill(salvage=True)
    assert driver.read() == driver.appended[1][:2]
    assert driver.replayed() == [(2, b"state"), (3, driver.appended[1][1])]
    assert driver.journal.last_position == 3
    assert any("entries 4 to 4 are lost" in line for line in driver.journal.salvaged)
    assert any("cut behind entry 3" in line for line in driver.journal.salvaged)
    driver.kill()
    assert driver.read() == driver.appended[1][:2]


def test_damage_below_a_checkpoint_costs_only_the_damaged_entries(driver: JournalDriver) -> None:
    for payload in (b"alpha", b"bravo", b"charlie"):
        driver.write(1, payload)
    driver.checkpoint(b"state")
    driver.write(1, b"delta")
    flip(driver, b"bravo")
    driver.kill(salvage=True)
    kept = [driver.appended[1][number] for number in (0, 2, 3)]
    assert driver.read() == kept
    assert driver.replayed() == [(4, b"state"), (5, kept[-1])]
    assert driver.journal.last_position == 5
    driver.write(1, b"echo")
    driver.kill()
    assert driver.read() == [*kept, driver.appended[1][-1]]


def test_later_segments_are_set_aside_with_the_cut_and_nothing_is_destroyed(driver: JournalDriver) -> None:
    for payload in (b"alpha", b"bravo", b"charlie"):
        driver.write(1, payload)
        driver.write(1, b"x")
        driver.restart()
    name = flip(driver, b"bravo")
    driver.journal.close()
    driver.disk.delete(name.replace(".journal", ".index"))
    driver.kill(salvage=True)
    assert driver.read() == driver.appended[1][:2]
    damaged = [name for name in driver.disk.list_names() if name.endswith(".damaged")]
    assert len(damaged) == 2
    kept_bytes = b"".join(driver.disk.open(name).pread(1 << 20, 0) for name in damaged)
    assert b"charlie" in kept_bytes


def test_a_missing_segment_below_a_checkpoint_becomes_a_hole(driver: JournalDriver) -> None:
    for payload in (b"alpha", b"bravo", b"charlie"):
        driver.write(1, payload)
        driver.restart()
    driver.checkpoint(b"state")
    driver.restart()
    driver.disk.delete(driver.segment_names()[1])
    driver.kill(salvage=True)
    assert driver.read() == [driver.appended[1][0], driver.appended[1][2]]
    assert driver.replayed() == [(4, b"state")]
    driver.kill()
    assert driver.journal.salvaged == []


def test_a_segment_with_an_unreadable_header_is_set_aside(driver: JournalDriver) -> None:
    driver.write(1, b"alpha")
    driver.restart()
    driver.write(1, b"bravo")
    driver.restart()
    driver.disk.flip_bit(driver.segment_names()[1], position=3, bit=0)
    driver.kill(salvage=True)
    assert driver.read() == driver.appended[1][:1]
    assert "the header cannot be read" in driver.journal.salvaged[0]


def test_a_damaged_group_frame_costs_no_entry(driver: JournalDriver) -> None:
    driver.write(1, b"alpha")
    place = driver.journal._open_segments[0].end_place
    driver.write(1, b"bravo")
    driver.write(1, b"charlie")
    driver.disk.flip_bit(FIRST_SEGMENT, position=place + 40, bit=0)
    driver.kill(salvage=True)
    assert driver.read() == driver.appended[1]


def test_salvage_of_a_whole_folder_changes_nothing(driver: JournalDriver) -> None:
    for payload in (b"alpha", b"bravo"):
        driver.write(1, payload)
        driver.restart()
    driver.write(1, b"charlie")
    before = driver.segment_names()
    driver.kill(salvage=True)
    assert driver.journal.salvaged == []
    assert driver.segment_names() == before
    assert driver.read() == driver.appended[1]


def test_salvage_leaves_a_folder_of_another_format_alone(driver: JournalDriver) -> None:
    driver.write(1, b"alpha")
    driver.journal.close()
    driver.disk.open(FIRST_SEGMENT, writable=True).pwritev([b"\x09"], 8)
    names = driver.disk.list_names()
    with pytest.raises(UnknownFormat, match="storage format 9"):
        driver.kill(salvage=True)
    assert driver.disk.list_names() == names


def test_salvage_after_cleaning_keeps_what_cleaning_promised(driver: JournalDriver) -> None:
    for payload in (b"alpha", b"bravo", b"charlie"):
        driver.write(1, payload)
        driver.checkpoint(b"state of " + payload)
        driver.restart()
    cleaning = driver.journal.begin_cleaning(RetentionPolicy({1: 1}))
    assert cleaning is not None
    cleaning.run()
    driver.journal.finish_cleaning(cleaning)
    driver.write(1, b"delta")
    driver.write(1, b"echo")
    flip(driver, b"delta")
    driver.kill(salvage=True)
    assert driver.read() == driver.appended[1][1:3]
    assert driver.replayed() == [(6, b"state of charlie")]


def test_dump_shows_every_frame_of_a_damaged_folder_and_verify_names_the_damage(driver: JournalDriver) -> None:
    for payload in (b"alpha", b"bravo", b"charlie"):
        driver.write(1, payload)
    driver.checkpoint(b"state")
    assert verify_folder(driver.disk) == []
    flip(driver, b"bravo")
    dumped = list(dump_frames(driver.disk))
    kinds = [frame.kind for frame in dumped]
    assert kinds == ["GROUP", "BATCH"] * 3 + ["GROUP", "CHECKPOINT", "UNREADABLE"]
    assert [d.frame.position for d in dumped if d.frame.fault] == [2, 0]
    assert bytes(dumped[1].frame.payload) == build_batch(0, b"alpha")
    (fault,) = verify_folder(driver.disk)
    assert "partition reference 1" in fault
