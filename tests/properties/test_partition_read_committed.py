"""A read_committed reader sees exactly the committed records, from any start, with fetches of any size."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.partition.apply import apply_synced
from fencepost.partition.visibility import last_stable_offset
from tests.unit.partition.driver import PartitionDriver, data_header
from tests.unit.partition.read_committed import consume

PRODUCER_IDS = (0, 1, 2, 3)
ACTIONS = ("send", "send", "send", "commit", "abort", "marker again", "plain", "sync", "delete", "restart")


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

    def end(self, partition: PartitionDriver, *, is_commit: bool) -> list[int]:
        """The offsets of the transaction that this ends; there may be none."""
        if self.transaction_version == 2:
            self.producer_epoch += 1
            self.sequence = 0
        marker_offset = self.mark(partition, is_commit=is_commit)
        assert isinstance(marker_offset, int)
        ended, self.open_offsets = self.open_offsets, []
        return ended

    def mark(self, partition: PartitionDriver, *, is_commit: bool) -> object:
        return partition.end(
            self.producer_id, self.producer_epoch, is_commit=is_commit, transaction_version=self.transaction_version
        )


steps = st.tuples(st.sampled_from(ACTIONS), st.sampled_from(PRODUCER_IDS), st.integers(1, 4))


@settings(max_examples=250, deadline=None)
@given(script=st.lists(steps, max_size=40), is_all_synced=st.booleans())
def test_a_reader_sees_exactly_the_committed_records_from_every_start(
    script: list[tuple[str, int, int]], *, is_all_synced: bool
) -> None:
    partition = PartitionDriver()
    writers = {producer_id: Writer(producer_id) for producer_id in PRODUCER_IDS}
    committed: set[int] = set()
    for action, producer_id, number in script:
        writer = writers[producer_id]
        if action == "send":
            writer.send(partition, number)
        elif action == "commit":
            committed.update(writer.end(partition, is_commit=True))
        elif action == "abort":
            writer.end(partition, is_commit=False)
        elif action == "marker again" and not writer.open_offsets and writer.producer_epoch:
            writer.mark(partition, is_commit=False)
        elif action == "plain":
            partition.produce(data_header(record_count=number))
            committed.update(range(partition.state.end_offset - number, partition.state.end_offset))
        elif action == "sync":
            _sync_up_to_a_batch(partition, back=number - 1)
        elif action == "delete":
            partition.delete_records(min(partition.state.log_start_offset + number, partition.state.high_watermark))
        elif action == "restart":
            log_start_offset = partition.state.log_start_offset
            partition = partition.restarted(checkpoint_at=number * len(partition.journal) // 4)
            partition.delete_records(log_start_offset)
    if is_all_synced:
        partition.sync()
    _check_every_start(partition, committed)


def _sync_up_to_a_batch(partition: PartitionDriver, *, back: int) -> None:
    """The high watermark stands between batches, perhaps some batches behind the end."""
    ends = [0] + [header.last_offset + 1 for header, _ in partition.journal]
    apply_synced(partition.state, ends[max(0, len(ends) - 1 - back)])


def _check_every_start(partition: PartitionDriver, committed: set[int]) -> None:
    limit = last_stable_offset(partition.state)
    for start_offset in range(partition.state.log_start_offset, partition.state.end_offset + 1):
        expected = sorted(offset for offset in committed if start_offset <= offset < limit)
        for batches_max in (1, 2, 5, 1000):
            assert consume(partition, start_offset=start_offset, batches_max=batches_max) == expected
