"""Both disks behind the journal's door answer alike, whatever is asked of them in whatever order."""

import contextlib
import tempfile
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fencepost.errors import FencepostError
from fencepost.journal.disk import Disk, DiskFile
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.server.file_disk import FileDisk

NAMES = st.sampled_from(["a", "b", "c.tmp"])
SLOTS = st.integers(0, 2)
PIECES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.binary(max_size=40).map(bytearray),
        st.binary(max_size=40).map(memoryview),
        st.integers(500, 3000).map(lambda size_bytes: b"\xa5" * size_bytes),
    ),
    max_size=5,
)
SIZES = st.one_of(st.integers(0, 40), st.sampled_from([0, 511, 512, 513, 4096, 9000]))
POSITIONS = st.one_of(SIZES, st.just(-1))


def outcome(call: Callable[[], object]) -> object:
    """The answer, or the kind of refusal."""
    try:
        return call()
    except (OSError, FencepostError) as error:
        return type(error)


class TwoDisks(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cleanup = contextlib.ExitStack()
        self.open_files: dict[int, tuple[DiskFile, DiskFile]] = {}

    @initialize()
    def make_both(self) -> None:
        folder = self.cleanup.enter_context(tempfile.TemporaryDirectory())
        self.real: Disk = FileDisk(folder)
        self.simulated: Disk = SimulatedDisk()

    def teardown(self) -> None:
        for real, _ in self.open_files.values():
            real.close()
        self.cleanup.close()

    def ask_both(self, ask: Callable[[Disk], object]) -> None:
        assert outcome(lambda: ask(self.real)) == outcome(lambda: ask(self.simulated))

    def ask_both_files(self, slot: int, ask: Callable[[DiskFile], object]) -> None:
        if slot in self.open_files:
            real, simulated = self.open_files[slot]
            assert outcome(lambda: ask(real)) == outcome(lambda: ask(simulated))

    def keep_both(self, slot: int, open_one: Callable[[Disk], DiskFile]) -> None:
        real, simulated = outcome(lambda: open_one(self.real)), outcome(lambda: open_one(self.simulated))
        if isinstance(real, type):
            assert real == simulated
            return
        assert real.name == simulated.name
        replaced = self.open_files.pop(slot, None)
        if replaced is not None:
            replaced[0].close()
        self.open_files[slot] = (real, simulated)

    @rule(slot=SLOTS, name=NAMES, size_bytes=SIZES)
    def create(self, slot: int, name: str, size_bytes: int) -> None:
        self.keep_both(slot, lambda disk: disk.create(name, size_bytes=size_bytes))

    @rule(slot=SLOTS, name=NAMES, writable=st.booleans())
    def open(self, slot: int, name: str, writable: bool) -> None:
        self.keep_both(slot, lambda disk: disk.open(name, writable=writable))

    @rule(old_name=NAMES, new_name=NAMES)
    def rename(self, old_name: str, new_name: str) -> None:
        self.ask_both(lambda disk: disk.rename(old_name, new_name))

    @rule(name=NAMES)
    def unlink(self, name: str) -> None:
        self.ask_both(lambda disk: disk.unlink(name))

    @rule()
    def sync_folder(self) -> None:
        self.ask_both(lambda disk: disk.sync_folder())

    @rule()
    def lock_owner(self) -> None:
        self.ask_both(lambda disk: disk.lock_owner())

    @rule()
    def unlock_owner(self) -> None:
        self.ask_both(lambda disk: disk.unlock_owner())

    @rule(slot=SLOTS, pieces=PIECES, position=POSITIONS)
    def pwritev(self, slot: int, pieces: list[bytes], position: int) -> None:
        self.ask_both_files(slot, lambda file: file.pwritev(pieces, position))

    @rule(slot=SLOTS, size_bytes=SIZES, position=POSITIONS)
    def pread(self, slot: int, size_bytes: int, position: int) -> None:
        self.ask_both_files(slot, lambda file: file.pread(size_bytes, position))

    @rule(slot=SLOTS, size_bytes=POSITIONS)
    def truncate(self, slot: int, size_bytes: int) -> None:
        self.ask_both_files(slot, lambda file: file.truncate(size_bytes))

    @rule(slot=SLOTS)
    def datasync(self, slot: int) -> None:
        self.ask_both_files(slot, lambda file: file.datasync())

    @rule(slot=SLOTS)
    def map(self, slot: int) -> None:
        self.ask_both_files(slot, lambda file: bytes(file.map()))

    @rule(slot=SLOTS)
    def close(self, slot: int) -> None:
        self.ask_both_files(slot, lambda file: file.close())

    @invariant()
    def names_sizes_and_contents_are_the_same(self) -> None:
        self.ask_both(lambda disk: [(name, disk.open(name).pread(1 << 20, 0)) for name in disk.list_names()])
        for slot in self.open_files:
            self.ask_both_files(slot, lambda file: file.size_bytes())


TwoDisks.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestBothDisksAnswerAlike = TwoDisks.TestCase
