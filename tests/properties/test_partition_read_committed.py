"""A read_committed reader sees exactly the committed records, from any start, with fetches of any size."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.partition.apply import apply_synced
from fencepost.partition.visibility import last_stable_offset
from tests.unit.partition.driver import PartitionDriver, data_header
from tests.unit.partition.read_committed import consume

PRODUCER_IDS = (0, 1, 2)
ACTIONS = ("send", "send", "send", "send", "commit", "abort", "abort", "again", "plain", "sync", "delete", "restart")


@dataclass
class Writer:
    """A transactional producer of one partition; even ids use the classic flow, odd ones bump their epoch."""

    producer_id: int
    producer_epoch: int = 0
    sequence: int = 0
    open_offsets: list[int] = field(default_factory=list)

    @property
    def transaction_version(self) -> int:
        return 1 + self.producer_id % 2

    def send(self, partition: PartitionDriver, record_count: int) -> None:
        base_offset = partition.send_transactional(
            self.producer_id,
            self.producer_epoch,
            self.sequence,
            record_count,
            transaction_version=self.transaction_version,
        )
        assert isinstance(base_offset, int)
        self.sequence += record_count
        self.open_offsets += range(base_offset, base_offset + record_count)

    def end(self, partition: PartitionDriver, *, is_commit: bool) -> int:
        if self.transaction_version == 2:
            self.producer_epoch += 1
            self.sequence = 0
        return self.mark(partition, is_commit=is_commit)

    def mark(self, partition: PartitionDriver, *, is_commit: bool) -> int:
        marker_offset = partition.end(
            self.producer_id, self.producer_epoch, is_commit=is_commit, transaction_version=self.transaction_version
        )
        assert isinstance(marker_offset, int)
        return marker_offset


@dataclass
class World:
    """A partition, its writers, and what is true of its records."""

    partition: PartitionDriver = field(default_factory=PartitionDriver)
    writers: list[Writer] = field(default_factory=lambda: [Writer(producer_id) for producer_id in PRODUCER_IDS])
    committed: set[int] = field(default_factory=set)
    decided: list[tuple[int, int]] = field(default_factory=list)
    """First offset and marker offset of every transaction that had records and was ended."""

    def run(self, action: str, producer_id: int, number: int) -> None:
        partition, writer = self.partition, self.writers[producer_id]
        state = partition.state
        if action == "send":
            writer.send(partition, number)
        elif action in ("commit", "abort"):
            self.end(writer, is_commit=action == "commit")
        elif action == "again" and not writer.open_offsets and writer.producer_epoch:
            writer.mark(partition, is_commit=number % 2 == 0)
        elif action == "plain":
            partition.produce(data_header(record_count=number))
            self.committed.update(range(state.end_offset - number, state.end_offset))
        elif action == "sync":
            ends = [0] + [header.last_offset + 1 for header, _ in partition.journal]
            apply_synced(state, ends[-min(number, len(ends))])
        elif action == "delete":
            partition.delete_records(min(state.log_start_offset + number, state.high_watermark))
        elif action == "restart":
            self.partition = partition.restarted(checkpoint_at=number * len(partition.journal) // 4)
            self.partition.delete_records(state.log_start_offset)

    def end(self, writer: Writer, *, is_commit: bool) -> None:
        marker_offset = writer.end(self.partition, is_commit=is_commit)
        if writer.open_offsets:
            self.decided.append((writer.open_offsets[0], marker_offset))
        if is_commit:
            self.committed.update(writer.open_offsets)
        writer.open_offsets = []

    def stable_end(self) -> int:
        """Up to where every outcome is known and synced, from the history alone."""
        state = self.partition.state
        unstable = [first for first, marker_offset in self.decided if marker_offset >= state.high_watermark]
        unstable += [writer.open_offsets[0] for writer in self.writers if writer.open_offsets]
        return min([max(first, state.log_start_offset) for first in unstable] + [state.high_watermark])

    def check_every_start(self) -> None:
        state = self.partition.state
        limit = self.stable_end()
        assert last_stable_offset(state) == limit
        for start_offset in range(state.log_start_offset, state.end_offset + 1):
            expected = sorted(offset for offset in self.committed if start_offset <= offset < limit)
            for batches_max in (1, 2, 5, 1000):
                assert consume(self.partition, start_offset=start_offset, batches_max=batches_max) == expected


steps = st.tuples(st.sampled_from(ACTIONS), st.sampled_from(PRODUCER_IDS), st.integers(1, 3))
outcomes = st.lists(st.sampled_from(["commit", "abort", "open"]), min_size=3, max_size=3)


@settings(max_examples=500, deadline=None)
@given(script=st.lists(steps, min_size=5, max_size=40), outcomes=outcomes, is_all_synced=st.booleans())
def test_a_reader_sees_exactly_the_committed_records_from_every_start(
    script: list[tuple[str, int, int]], outcomes: list[str], *, is_all_synced: bool
) -> None:
    world = World()
    for step in script:
        world.run(*step)
        assert last_stable_offset(world.partition.state) == world.stable_end()
    for writer, outcome in zip(world.writers, outcomes, strict=True):
        if outcome != "open":
            world.end(writer, is_commit=outcome == "commit")
    if is_all_synced:
        world.partition.sync()
    world.check_every_start()
