"""Whatever was done and whichever seed is drawn, a power loss only ever shows what somebody wrote."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.lab.simulated_disk import CrashModel, SimulatedDisk
from fencepost.lab.unsynced import SECTOR_BYTES

FILE_BYTES = 4 * SECTOR_BYTES
WRITES = st.tuples(st.integers(0, FILE_BYTES - 1), st.integers(1, FILE_BYTES))
STEPS = st.lists(st.one_of(WRITES, st.just("datasync")), max_size=12)
SEEDS = st.one_of(st.integers(0, 12), st.integers(0, 2**64))


@settings(deadline=None)
@given(STEPS, SEEDS)
def test_every_sector_after_power_loss_is_one_that_was_there_since_the_last_sync(steps: list, seed: int) -> None:
    disk = SimulatedDisk()
    file = disk.create("a", size_bytes=FILE_BYTES)
    file.datasync()
    disk.sync_folder()
    candidates = [{bytes(1)} for _ in range(FILE_BYTES)]
    for number, step in enumerate(steps, 1):
        if step == "datasync":
            file.datasync()
            candidates = [{bytes([byte])} for byte in file.pread(FILE_BYTES, 0)]
        else:
            position, size_bytes = step[0], min(step[1], FILE_BYTES - step[0])
            file.pwritev([bytes([number]) * size_bytes], position)
            for index in range(position, position + size_bytes):
                candidates[index].add(bytes([number]))
    found = disk.after_crash(CrashModel.POWER_LOST, seed).open("a").pread(FILE_BYTES + 1, 0)
    assert len(found) == FILE_BYTES
    for index in range(FILE_BYTES):
        assert found[index : index + 1] in candidates[index]


NAMES = st.sampled_from("abcd")
NAME_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), NAMES, NAMES),
        st.tuples(st.just("rename"), NAMES, NAMES),
        st.tuples(st.just("unlink"), NAMES, NAMES),
        st.tuples(st.just("sync"), NAMES, NAMES),
    ),
    max_size=20,
)


@settings(deadline=None)
@given(NAME_STEPS, SEEDS)
def test_a_file_that_nobody_unlinked_or_replaced_is_there_under_exactly_one_of_its_names(
    steps: list[tuple[str, str, str]], seed: int
) -> None:
    disk = SimulatedDisk()
    names_of: dict[bytes, set[str]] = {}
    synced: set[bytes] = set()
    doomed: set[bytes] = set()
    for number, (step, name, other) in enumerate(steps):
        present = disk.list_names()
        content = disk.open(name).pread(1, 0) if name in present else b""
        if step == "create" and name not in present:
            file = disk.create(name, size_bytes=1)
            file.pwritev([bytes([number])], 0)
            file.datasync()
            names_of[bytes([number])] = {name}
        elif step == "rename" and name in present and other != name:
            if other in present:
                doomed.add(disk.open(other).pread(1, 0))
            disk.rename(name, other)
            names_of[content].add(other)
        elif step == "unlink" and name in present:
            disk.unlink(name)
            doomed.add(content)
        elif step == "sync":
            disk.sync_folder()
            synced = {disk.open(present_name).pread(1, 0) for present_name in present}
    restarted = disk.after_crash(CrashModel.POWER_LOST, seed)
    found = {name: restarted.open(name).pread(1, 0) for name in restarted.list_names()}
    assert all(name in names_of[content] for name, content in found.items())
    assert len(set(found.values())) == len(found)
    assert synced - doomed <= set(found.values())
