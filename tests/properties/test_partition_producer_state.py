"""What a producer is answered, against a model that keeps every batch ever accepted and looks at the whole list."""

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ErrorCode
from fencepost.partition.append import Duplicate
from tests.unit.partition.driver import NOW_MS, PartitionDriver

SEQUENCES = 2**31
PRODUCER_IDS = (0, 2**63 - 1)


class Accepted(NamedTuple):
    producer_id: int
    producer_epoch: int
    first_sequence: int
    record_count: int
    base_offset: int

    @property
    def next_sequence(self) -> int:
        return (self.first_sequence + self.record_count) % SEQUENCES


@dataclass
class NaiveModel:
    accepted: list[Accepted] = field(default_factory=list)
    end_offset: int = 0

    def history_of(self, producer_id: int) -> list[Accepted]:
        return [batch for batch in self.accepted if batch.producer_id == producer_id]

    def newest_of(self, producer_id: int) -> list[Accepted]:
        """The producer's batches since its epoch last changed, at most five."""
        own = self.history_of(producer_id)
        return [batch for batch in own if batch.producer_epoch == own[-1].producer_epoch][-5:]

    def answer(self, producer_id: int, producer_epoch: int, first_sequence: int, record_count: int) -> object:
        newest = self.newest_of(producer_id)
        if newest:
            for batch in newest:
                if batch[1:4] == (producer_epoch, first_sequence, record_count):
                    return Duplicate(batch.base_offset, batch.base_offset + record_count - 1, NOW_MS)
            if producer_epoch < newest[-1].producer_epoch:
                return ErrorCode.INVALID_PRODUCER_EPOCH
            expected = newest[-1].next_sequence if producer_epoch == newest[-1].producer_epoch else 0
            if first_sequence != expected:
                return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        batch = Accepted(producer_id, producer_epoch, first_sequence, record_count, self.end_offset)
        self.accepted.append(batch)
        self.end_offset += record_count
        return batch.base_offset


class Step(NamedTuple):
    """What a producer does next, in relation to what it has sent; the numbers are used where the kind needs them."""

    kind: str
    producer_id: int
    producer_epoch: int
    sequence: int
    record_count: int
    pick: int

    def batch(self, history: list[Accepted]) -> tuple[int, int, int]:
        if not history or self.kind == "anything":
            return self.producer_epoch, self.sequence, self.record_count
        epoch, picked = history[-1].producer_epoch, history[-1 - self.pick % len(history)]
        if self.kind == "next":
            return epoch, history[-1].next_sequence, self.record_count
        if self.kind == "resend":
            return picked[1:4]
        if self.kind == "resend in the newest epoch":
            return epoch, picked.first_sequence, picked.record_count
        if self.kind == "overlap":
            return epoch, picked.first_sequence, picked.record_count + 1
        if self.kind == "any sequence":
            return epoch, self.sequence, self.record_count
        return min(epoch + 1, 2**15 - 1), 0, self.record_count


KINDS = (
    ["next"] * 5 + ["resend"] * 2 + ["resend in the newest epoch", "overlap", "any sequence", "new epoch", "anything"]
)
record_counts = st.one_of(st.integers(1, 4), st.integers(1, SEQUENCES - 1))
sequences = st.one_of(st.integers(0, 6), st.integers(SEQUENCES - 6, SEQUENCES - 1), st.integers(0, SEQUENCES - 1))
steps = st.builds(
    Step,
    kind=st.sampled_from(KINDS),
    producer_id=st.sampled_from(PRODUCER_IDS),
    producer_epoch=st.integers(0, 2**15 - 1),
    sequence=sequences,
    record_count=record_counts,
    pick=st.integers(0, 6),
)


@settings(max_examples=200, deadline=None)
@given(script=st.lists(steps, min_size=8, max_size=40), restarts=st.sets(st.integers(0, 40), max_size=3))
def test_a_producer_is_answered_as_by_a_model_that_remembers_everything(script: list[Step], restarts: set[int]) -> None:
    partition, model = PartitionDriver(), NaiveModel()
    for number, step in enumerate(script):
        if number in restarts:
            partition = partition.restarted(checkpoint_at=len(partition.journal) * step.pick // 6)
        batch = step.batch(model.history_of(step.producer_id))
        assert partition.send(step.producer_id, *batch) == model.answer(step.producer_id, *batch)
    assert partition.state.end_offset == model.end_offset
