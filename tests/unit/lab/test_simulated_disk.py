"""Each fault of the simulated disk: what it takes, and what it must never take."""

from itertools import product

import pytest

from fencepost.journal.disk import DiskFull, FolderInUse, SyncFailed
from fencepost.lab.simulated_disk import EXTREMES, CrashModel, SimulatedCrash, SimulatedDisk

MANY_SEEDS = range(200)
POWER_MODELS = [CrashModel.POWER_LOST, CrashModel.TORN]
NOTHING, EVERYTHING, ONLY_NAMES, ONLY_BYTES, ONLY_LAST, ONLY_FIRST = range(6)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


def content(disk: SimulatedDisk, name: str) -> bytes:
    return disk.open(name).pread(1 << 30, 0)


def everything(disk: SimulatedDisk) -> dict[str, bytes]:
    return {name: content(disk, name) for name in disk.list_names()}


def synced_file(disk: SimulatedDisk, name: str, data: bytes):
    file = disk.create(name, size_bytes=len(data))
    file.pwritev([data], 0)
    file.datasync()
    disk.sync_folder()
    return file


def outcomes(disk: SimulatedDisk, model: CrashModel) -> set[tuple[tuple[str, bytes], ...]]:
    return {tuple(everything(disk.after_crash(model, seed)).items()) for seed in MANY_SEEDS}


def contents(disk: SimulatedDisk, model: CrashModel = CrashModel.POWER_LOST, name: str = "a") -> set[bytes]:
    return {dict(names)[name] for names in outcomes(disk, model)}


def names_left(disk: SimulatedDisk, model: CrashModel = CrashModel.POWER_LOST) -> set[frozenset[str]]:
    return {frozenset(dict(names)) for names in outcomes(disk, model)}


@pytest.mark.parametrize("model", list(CrashModel))
def test_what_was_synced_survives_every_crash(disk: SimulatedDisk, model: CrashModel) -> None:
    synced_file(disk, "a", b"A" * 2000)
    assert outcomes(disk, model) == {(("a", b"A" * 2000),)}


def test_a_killed_process_leaves_everything_it_wrote(disk: SimulatedDisk) -> None:
    file = disk.create("a", size_bytes=3)
    file.pwritev([b"ab", b"cd"], 1)
    disk.create("b", size_bytes=0)
    disk.rename("b", "c")
    assert outcomes(disk, CrashModel.KILLED) == {(("a", b"\0abcd"), ("c", b""))}


def test_what_a_killed_process_wrote_is_still_unsynced(disk: SimulatedDisk) -> None:
    synced_file(disk, "a", b"old").pwritev([b"new"], 0)
    survivor = disk.after_crash(CrashModel.KILLED, 0)
    assert content(survivor, "a") == b"new"
    assert content(survivor.after_crash(CrashModel.POWER_LOST, NOTHING), "a") == b"old"
    survivor.open("a", writable=True).datasync()
    assert content(survivor.after_crash(CrashModel.POWER_LOST, NOTHING), "a") == b"new"


ANY_SECTORS = {
    b"-" * 100 + first * 412 + second * 512 + third * 76 + b"-" * 436
    for first, second, third in product((b"-", b"#"), repeat=3)
}
"""Of a write of 1000 bytes at 100, which touches three."""


@pytest.mark.parametrize(
    ("model", "old", "change", "found"),
    [
        (CrashModel.POWER_LOST, b"-" * 1536, (b"#" * 1000, 100), ANY_SECTORS),
        (CrashModel.POWER_LOST, b"old", (b"new!", 3), {b"old", b"old\0\0\0\0", b"oldnew!"}),
        (CrashModel.POWER_LOST, b"abcdef", 2, {b"abcdef", b"ab"}),
        (CrashModel.TORN, b"-" * 5, (b"0123", 1), {b"-----", b"-0---", b"-01--", b"-012-"}),
        (CrashModel.TORN, b"----", (b"abcdef", 2), {b"----", b"--a-", b"--ab", b"--abc", b"--abcd", b"--abcde"}),
    ],
    ids=["any subset of sectors", "size or bytes", "truncate", "torn at any byte", "torn growth"],
)
def test_an_unsynced_change_is_there_as_far_as_a_disk_may_keep_it(
    disk: SimulatedDisk, model: CrashModel, old: bytes, change: tuple[bytes, int] | int, found: set[bytes]
) -> None:
    file = synced_file(disk, "a", old)
    if isinstance(change, int):
        file.truncate(change)
    else:
        file.pwritev([change[0]], change[1])
    assert contents(disk, model) == found


def test_bytes_cut_off_by_a_truncate_do_not_come_back_when_the_file_grows(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"abcdef")
    file.truncate(2)
    file.datasync()
    file.truncate(6)
    assert content(disk, "a") == b"ab\0\0\0\0"
    assert contents(disk) == {b"ab", b"ab\0\0\0\0"}


def test_an_unsynced_truncate_and_growth_that_both_survive_leave_zeros(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"abcdef")
    file.truncate(2)
    file.pwritev([b"!"], 5)
    assert content(disk.after_crash(CrashModel.POWER_LOST, EVERYTHING), "a") == b"ab\0\0\0!"


def test_a_file_grows_and_shrinks_under_a_map_of_it(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"abc")
    view = file.map()
    file.pwritev([b"de"], 3)
    file.truncate(1)
    assert (bytes(view), content(disk, "a")) == (b"abc", b"a")


def test_only_the_last_write_is_torn(disk: SimulatedDisk) -> None:
    first, second = synced_file(disk, "a", b"--"), synced_file(disk, "b", b"--")
    second.pwritev([b"##"], 0)
    first.pwritev([b"##"], 0)
    assert contents(disk, CrashModel.TORN, "a") == {b"--", b"#-"}
    assert contents(disk, CrashModel.TORN, "b") == {b"--", b"##"}


@pytest.mark.parametrize("model", POWER_MODELS)
def test_unsynced_names_survive_in_any_subset(disk: SimulatedDisk, model: CrashModel) -> None:
    synced_file(disk, "old", b"x")
    disk.create("new", size_bytes=0).datasync()
    disk.unlink("old")
    assert names_left(disk, model) == {frozenset(), frozenset({"old"}), frozenset({"new"}), frozenset({"old", "new"})}


def test_rename_over_a_name_leaves_the_old_or_the_new_file(disk: SimulatedDisk) -> None:
    synced_file(disk, "a", b"old")
    synced_file(disk, "a.tmp", b"new")
    disk.rename("a.tmp", "a")
    assert outcomes(disk, CrashModel.POWER_LOST) == {(("a", b"old"), ("a.tmp", b"new")), (("a", b"new"),)}


def test_renamed_file_whose_bytes_were_never_synced_may_be_empty(disk: SimulatedDisk) -> None:
    synced_file(disk, "a", b"old")
    disk.create("a.tmp", size_bytes=0).pwritev([b"new"], 0)
    disk.rename("a.tmp", "a")
    disk.sync_folder()
    assert everything(disk.after_crash(CrashModel.POWER_LOST, ONLY_NAMES)) == {"a": b""}


def test_the_named_seeds_are_the_extremes(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"..")
    file.pwritev([b"1"], 0)
    file.pwritev([b"2"], 1)
    disk.create("b", size_bytes=0)
    disk.create("c", size_bytes=0)
    seen = [everything(disk.after_crash(CrashModel.POWER_LOST, seed)) for seed in range(6)]
    assert seen[NOTHING] == {"a": b".."}
    assert seen[EVERYTHING] == {"a": b"12", "b": b"", "c": b""}
    assert seen[ONLY_NAMES] == {"a": b"..", "b": b"", "c": b""}
    assert seen[ONLY_BYTES] == {"a": b"12"}
    assert seen[ONLY_LAST] == {"a": b".2", "c": b""}
    assert seen[ONLY_FIRST] == {"a": b"1.", "b": b""}
    assert len(EXTREMES) > ONLY_FIRST


@pytest.mark.parametrize("model", list(CrashModel))
def test_the_same_seed_finds_the_same_disk(disk: SimulatedDisk, model: CrashModel) -> None:
    disk.create("a", size_bytes=10_000).pwritev([bytes(range(256)) * 39], 3)
    for seed in MANY_SEEDS:
        assert everything(disk.after_crash(model, seed)) == everything(disk.after_crash(model, seed))


def test_crash_comes_after_exactly_that_many_operations_and_stays(disk: SimulatedDisk) -> None:
    disk.crash_after(3)
    file = disk.create("a", size_bytes=4)
    file.pread(4, 0)
    file.datasync()
    disk.sync_folder()
    with pytest.raises(SimulatedCrash):
        disk.rename("a", "b")
    for dead_call in (disk.list_names, disk.sync_folder, file.datasync, file.size_bytes, lambda: disk.open("a")):
        with pytest.raises(SimulatedCrash):
            dead_call()
    assert disk.operation_count == 3
    assert not issubclass(SimulatedCrash, Exception), "the code under test must not live through it"
    assert everything(disk.after_crash(CrashModel.KILLED, 0)) == {"a": bytes(4)}


def test_the_write_in_flight_at_a_crash_is_there_in_part(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"----")
    disk.crash_after(disk.operation_count)
    with pytest.raises(SimulatedCrash):
        file.pwritev([b"abcd"], 0)
    assert contents(disk, CrashModel.KILLED) == {b"----", b"a---", b"ab--", b"abc-"}
    assert contents(disk) == {b"----", b"abcd"}


def test_restarted_disk_counts_from_zero_and_can_crash_again(disk: SimulatedDisk) -> None:
    synced_file(disk, "a", b"x")
    disk.crash_after(disk.operation_count)
    with pytest.raises(SimulatedCrash):
        disk.unlink("a")
    restarted = disk.after_crash(CrashModel.POWER_LOST, 1)
    assert (restarted.operation_count, restarted.is_crashed) == (0, False)
    restarted.crash_after(1)
    restarted.unlink("a")
    with pytest.raises(SimulatedCrash):
        restarted.sync_folder()
    assert outcomes(restarted, CrashModel.POWER_LOST) == {(), (("a", b"x"),)}


def test_failed_sync_is_visible_but_no_later_sync_makes_it_durable(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"----")
    file.pwritev([b"##"], 0)
    disk.fail_next_sync()
    with pytest.raises(SyncFailed, match="a"):
        file.datasync()
    file.pwritev([b"!"], 1)
    file.datasync()
    assert content(disk, "a") == b"#!--"
    assert content(disk.after_crash(CrashModel.KILLED, 0), "a") == b"#!--"
    assert contents(disk) == {b"-!--", b"#!--"}


def test_failed_sync_of_the_folder_leaves_names_in_doubt_for_good(disk: SimulatedDisk) -> None:
    disk.create("a", size_bytes=0)
    disk.fail_next_sync()
    with pytest.raises(SyncFailed):
        disk.sync_folder()
    disk.create("b", size_bytes=0)
    disk.sync_folder()
    assert names_left(disk) == {
        frozenset({"b"}),
        frozenset({"a", "b"}),
    }


def test_full_disk_shows_in_create_and_leaves_no_name() -> None:
    disk = SimulatedDisk(capacity_bytes=100)
    disk.create("a", size_bytes=60)
    with pytest.raises(DiskFull, match="b"):
        disk.create("b", size_bytes=41)
    assert disk.list_names() == ["a"]
    disk.create("b", size_bytes=40)
    disk.unlink("a")
    disk.create("c", size_bytes=60)


def test_full_disk_lets_a_growing_write_happen_in_part() -> None:
    disk = SimulatedDisk(capacity_bytes=10)
    file = disk.create("a", size_bytes=6)
    with pytest.raises(DiskFull):
        file.pwritev([b"0123456789"], 4)
    assert content(disk, "a") == bytes(4) + b"012345"


def test_full_disk_lets_a_write_inside_the_file_happen() -> None:
    disk = SimulatedDisk(capacity_bytes=10)
    file = disk.create("a", size_bytes=10)
    disk.capacity_bytes = 5
    file.pwritev([b"0123456789"], 0)
    assert content(disk, "a") == b"0123456789"


def test_flipped_bit_is_there_before_and_after_any_crash(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"\x00\x00")
    disk.flip_bit("a", position=1, bit=3)
    assert file.pread(2, 0) == b"\x00\x08"
    assert outcomes(disk, CrashModel.POWER_LOST) == {(("a", b"\x00\x08"),)}
    disk.flip_bit("a", position=1, bit=3)
    assert file.pread(2, 0) == b"\x00\x00"


def test_deleted_file_is_gone_after_any_crash(disk: SimulatedDisk) -> None:
    synced_file(disk, "a", b"x")
    disk.create("b", size_bytes=0)
    disk.delete("a")
    assert disk.list_names() == ["b"]
    assert names_left(disk) == {
        frozenset(),
        frozenset({"b"}),
    }


def test_snapshot_and_original_do_not_see_each_other(disk: SimulatedDisk) -> None:
    file = synced_file(disk, "a", b"before")
    view = file.map()
    file.pwritev([b"B"], 0)
    snapshot = disk.snapshot()
    file.pwritev([b"AFTER!"], 0)
    file.datasync()
    snapshot.open("a", writable=True).pwritev([b"snap"], 0)
    snapshot.create("b", size_bytes=0)
    assert everything(disk) == {"a": b"AFTER!"}
    assert bytes(view) == b"AFTER!"
    assert everything(snapshot) == {"a": b"snapre", "b": b""}
    assert everything(snapshot.after_crash(CrashModel.POWER_LOST, NOTHING)) == {"a": b"before"}


def test_second_owner_is_refused_until_a_crash_or_an_unlock(disk: SimulatedDisk) -> None:
    disk.lock_owner()
    with pytest.raises(FolderInUse):
        disk.lock_owner()
    disk.after_crash(CrashModel.KILLED, 0).lock_owner()
    disk.unlock_owner()
    disk.lock_owner()
