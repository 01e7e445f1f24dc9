"""What a partition remembers of one producer id: its epoch, its open transaction, its last five batches.

The five batches are what makes a resent batch a duplicate instead of a second copy. A change of epoch, by data
or by a marker, forgets them: sequences restart with the epoch. A batch without sequences, as the group
coordinator writes them, is remembered too, with `NO_SEQUENCE`: no client batch can equal it.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.records.header import BatchHeader
from fencepost.types import NO_OFFSET, NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP

CACHED_BATCHES_MAX = 5
"""Kafka's clients have at most five requests in flight, so no older batch can be resent."""

NO_COORDINATOR_EPOCH = -1


class CachedBatch(NamedTuple):
    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


@dataclass(slots=True)
class ProducerState:
    producer_epoch: int = NO_PRODUCER_EPOCH
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    last_timestamp: int = NO_TIMESTAMP
    current_txn_first_offset: int = NO_OFFSET
    batches: list[CachedBatch] = field(default_factory=list)
    """Oldest first, at most `CACHED_BATCHES_MAX`, all of `producer_epoch`."""
    silent_since_ms: int | None = field(default=None, compare=False)
    """When a sweep of `expiry` first found that nothing had come since the one before. Memory only."""

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def has_open_transaction(self) -> bool:
        return self.current_txn_first_offset != NO_OFFSET

    def has_open_transaction_of(self, producer_epoch: int) -> bool:
        return self.current_txn_first_offset != NO_OFFSET and self.producer_epoch == producer_epoch

    def find_duplicate(self, header: BatchHeader) -> CachedBatch | None:
        """The cached batch with the same epoch and exactly the same sequences; an overlap is not a duplicate."""
        if header.producer_epoch == self.producer_epoch:
            first_sequence = header.base_sequence
            for batch in self.batches:
                if batch.first_sequence == first_sequence and batch.last_sequence == header.last_sequence:
                    return batch
        return None

    def add_batch(self, header: BatchHeader) -> None:
        batches = self.batches
        if header.producer_epoch != self.producer_epoch:
            self.producer_epoch = header.producer_epoch
            batches.clear()
        elif len(batches) == CACHED_BATCHES_MAX:
            del batches[0]
        base_offset = header.base_offset
        last_offset = base_offset + header.last_offset_delta
        timestamp = self.last_timestamp = header.max_timestamp
        self.silent_since_ms = None
        batches.append(CachedBatch(header.base_sequence, header.last_sequence, base_offset, last_offset, timestamp))

    def end_transaction(self, *, producer_epoch: int, coordinator_epoch: int, timestamp: int) -> None:
        if producer_epoch != self.producer_epoch:
            self.producer_epoch = producer_epoch
            self.batches.clear()
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = timestamp
        self.current_txn_first_offset = NO_OFFSET
        self.silent_since_ms = None
