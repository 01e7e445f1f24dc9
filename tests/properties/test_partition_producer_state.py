"""What a producer is answered, against a model that keeps every batch ever accepted and looks at the whole list."""

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ErrorCode
from fencepost.partition.append import Duplicate
from tests.unit.partition.driver import NOW_MS, PartitionDriver

SEQUENCES = 2**31
PRODUCER_IDS = (0, 1, 2**63 - 1)


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

    def newest_of(self, producer_id: int) -> list[Accepted]:
        """The producer's batches since its epoch last changed, at most five."""
        own = [batch for batch in self.accepted if batch.producer_id == producer_id]
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


record_counts = st.one_of(st.integers(1, 4), st.integers(1, SEQUENCES - 1))
sequences = st.one_of(st.integers(0, 6), st.integers(SEQUENCES - 6, SEQUENCES - 1), st.integers(0, SEQUENCES - 1))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_producer_is_answered_as_by_a_model_that_remembers_everything(data: st.DataObject) -> None:
    partition, model = PartitionDriver(), NaiveModel()
    for _ in range(data.draw(st.integers(1, 25))):
        producer_id = data.draw(st.sampled_from(PRODUCER_IDS))
        newest = model.newest_of(producer_id)
        batch = data.draw(_next_batch(newest), label=f"batch of producer {producer_id}")
        assert partition.send(producer_id, *batch) == model.answer(producer_id, *batch)
        if data.draw(st.integers(0, 9)) == 0:
            partition = partition.restarted(checkpoint_at=data.draw(st.integers(0, len(partition.journal))))
    assert partition.state.end_offset == model.end_offset


def _next_batch(newest: list[Accepted]) -> st.SearchStrategy[tuple[int, int, int]]:
    """Mostly what a live producer sends: the next batch, a resend, a new epoch; and anything at all."""
    anything = st.tuples(st.integers(0, 2**15 - 1), sequences, record_counts)
    if not newest:
        return anything
    epoch, following = newest[-1].producer_epoch, newest[-1].next_sequence
    return st.one_of(
        st.tuples(st.just(epoch), st.just(following), record_counts),
        st.sampled_from([batch[1:4] for batch in newest]),
        st.sampled_from([(batch.producer_epoch, batch.first_sequence, batch.record_count + 1) for batch in newest]),
        st.tuples(st.just(epoch), sequences, record_counts),
        st.tuples(st.just(min(epoch + 1, 2**15 - 1)), st.just(0), record_counts),
        anything,
    )
