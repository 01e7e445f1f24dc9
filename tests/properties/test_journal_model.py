"""The journal against a model that is nothing but a list, under any sequence of calls and restarts."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fencepost.journal.frames import FrameKind, checksum_seed, frame_header, read_frame
from fencepost.journal.rows import OpenRows, batch_row
from fencepost.lab.simulated_disk import CrashModel
from fencepost.records.header import read_header
from fencepost.types import NO_TIMESTAMP
from tests.crash.workload import clean
from tests.unit.journal.driver import JournalDriver, RetentionPolicy

PARTITION_REFS = st.sampled_from((0, 1, 2, 0xFFFF_FFFE))
OFFSETS = st.integers(0, 60)
PAYLOADS = st.one_of(st.binary(max_size=100), st.builds(bytes, st.integers(0, 3000)))


class JournalMachine(RuleBasedStateMachine):
    """Start offsets only grow, as log start offsets do; a batch below them may or may not be there."""

    @initialize(segment_bytes=st.integers(1024, 8192))
    def open(self, segment_bytes: int) -> None:
        self.driver = JournalDriver(segment_bytes=segment_bytes)
        self.synced: dict[int, int] = {}
        self.start_offsets: dict[int, int] = {}
        self.checkpoint_state: bytes | None = None
        self.pending_checkpoint: bytes | None = None

    @rule(
        partition_ref=PARTITION_REFS,
        payload=PAYLOADS,
        record_count=st.integers(1, 5),
        timestamp_ms=st.integers(NO_TIMESTAMP, 2**63 - 1),
    )
    def append(self, partition_ref: int, payload: bytes, record_count: int, timestamp_ms: int) -> None:
        self.driver.append(partition_ref, payload, record_count=record_count, timestamp_ms=timestamp_ms)

    @rule(state=PAYLOADS)
    def checkpoint(self, state: bytes) -> None:
        self.driver.journal.append_checkpoint(state)
        self.pending_checkpoint = state

    @rule()
    def commit(self) -> None:
        self.driver.journal.commit()
        self._is_synced()

    @rule()
    def restart(self) -> None:
        self.driver.restart()
        self._is_synced()
        self._check_replay()

    @rule(seed=st.one_of(st.none(), st.integers(0, 2**32)))
    def lose_power_or_be_killed(self, seed: int | None) -> None:
        """Nothing is in flight, so exactly what is synced is left."""
        model = CrashModel.KILLED if seed is None else CrashModel.POWER_LOST
        self.driver.disk = self.driver.disk.after_crash(model, seed or 0)
        self.driver.journal = self.driver._open()
        self.pending_checkpoint = self.checkpoint_state
        for partition_ref, batches in self.driver.appended.items():
            del batches[self.synced.get(partition_ref, 0) :]
            self.driver.end_offsets[partition_ref] = read_header(batches[-1]).last_offset + 1 if batches else 0
        self._check_replay()

    @rule(partition_ref=PARTITION_REFS, offset=OFFSETS)
    def clean(self, partition_ref: int, offset: int) -> None:
        self.start_offsets[partition_ref] = max(offset, self.start_offsets.get(partition_ref, 0))
        clean(self.driver.journal, RetentionPolicy(self.start_offsets))

    @rule(partition_ref=PARTITION_REFS, start_offset=OFFSETS, end_offset=OFFSETS, max_bytes=st.integers(0, 9000))
    def read_a_part(self, partition_ref: int, start_offset: int, end_offset: int, max_bytes: int) -> None:
        visible = self.driver.read(partition_ref)
        wanted = [
            batch
            for batch in visible
            if read_header(batch).last_offset >= start_offset and read_header(batch).last_offset < end_offset
        ]
        expected: list[bytes] = []
        for batch in wanted:
            if expected and sum(map(len, expected)) + len(batch) > max_bytes:
                break
            expected.append(batch)
        assert self.driver.read(partition_ref, start_offset, end_offset=end_offset, max_bytes=max_bytes) == expected

    @invariant()
    def everything_synced_is_readable_and_nothing_else(self) -> None:
        if not hasattr(self, "driver"):
            return
        for partition_ref, batches in self.driver.appended.items():
            synced = batches[: self.synced.get(partition_ref, 0)]
            found = self.driver.read(partition_ref)
            start_offset = self.start_offsets.get(partition_ref, 0)
            must = [batch for batch in synced if read_header(batch).last_offset >= start_offset]
            assert found[len(found) - len(must) :] == must
            may = synced[: len(synced) - len(must)]
            assert [batch for batch in may if batch in found] == found[: len(found) - len(must)]

    def _is_synced(self) -> None:
        self.synced = {partition_ref: len(batches) for partition_ref, batches in self.driver.appended.items()}
        self.checkpoint_state = self.pending_checkpoint

    def _check_replay(self) -> None:
        replayed = list(self.driver.journal.replay())
        states = [bytes(entry.payload) for entry in replayed if entry.is_checkpoint]
        assert states == ([] if self.checkpoint_state is None else [self.checkpoint_state])
        positions = [entry.position for entry in replayed]
        assert positions == sorted(set(positions))
        for entry in replayed[len(states) :]:
            assert bytes(entry.payload) in self.driver.appended[entry.partition_ref]


JournalMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestJournalMachine = JournalMachine.TestCase


@given(
    payload=st.binary(max_size=200),
    partition_ref=st.integers(0, 2**32 - 1),
    position=st.integers(0, 2**64 - 1),
    salt=st.integers(0, 2**64 - 1),
    cuts=st.lists(st.integers(0, 200), max_size=3),
)
def test_any_frame_is_read_back(payload: bytes, partition_ref: int, position: int, salt: int, cuts: list[int]) -> None:
    seed = checksum_seed(salt)
    edges = [0, *sorted(min(cut, len(payload)) for cut in cuts), len(payload)]
    pieces = [payload[start:end] for start, end in pairwise(edges)]
    header = frame_header(
        FrameKind.BATCH,
        seed=seed,
        partition_ref=partition_ref,
        position=position,
        pieces=pieces,
        size_bytes=len(payload),
    )
    frame = read_frame(memoryview(header + payload), 0, seed=seed, place=0)
    assert frame[1:5] == (FrameKind.BATCH, partition_ref, position, payload)
    assert not frame.fault


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), max_size=30), st.integers(-5, 200))
def test_rows_find_the_first_batch_that_ends_at_or_above_an_offset(runs: list[tuple[int, int]], offset: int) -> None:
    """Batches with holes between them, as compaction leaves them."""
    rows, last_offsets, base_offset = OpenRows(), [], 0
    for record_count, hole in runs:
        last_offset = base_offset + record_count - 1
        rows.add(1, batch_row(base_offset=base_offset, last_offset=last_offset, max_timestamp=0, place=0, size_bytes=0))
        last_offsets.append(last_offset)
        base_offset = last_offset + 1 + hole
    expected = next((number for number, last in enumerate(last_offsets) if last >= offset), len(runs))
    assert rows.find(1, offset) == expected
