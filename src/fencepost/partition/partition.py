"""The state of one topic-partition: everything that a fold over its batches yields.

`decide_*` functions read it and change nothing, `apply_*` functions change it and never refuse. Offsets hold
`log_start_offset <= last stable offset <= high_watermark <= end_offset`. The high watermark is the end of what is
synced; it comes from outside. A broker alone leads every partition for good, so there is one leader epoch, 0.
"""

from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.errors import invariant
from fencepost.partition.producer_state import ProducerState

LEADER_EPOCH = 0


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int


def _column() -> "array[int]":
    return array("q")


@dataclass(slots=True)
class AbortedIndex:
    """Which transactions of a partition were aborted, for the list that goes with a read_committed fetch.

    Four columns of 64-bit numbers, 32 bytes an aborted transaction, in the order of their markers, which is strictly
    increasing. `last_stable_offset` is the first offset of the oldest other transaction that was open at the marker, or
    the offset after the marker: whatever is decided later starts at or after it, so a selection may stop there.
    An entry must go before its marker does: a reader who learns of an abort and never meets the marker drops everything
    that the producer wrote since.
    """

    producer_ids: "array[int]" = field(default_factory=_column)
    first_offsets: "array[int]" = field(default_factory=_column)
    marker_offsets: "array[int]" = field(default_factory=_column)
    last_stable_offsets: "array[int]" = field(default_factory=_column)

    def __len__(self) -> int:
        return len(self.marker_offsets)

    def columns(self) -> "tuple[array[int], array[int], array[int], array[int]]":
        return self.producer_ids, self.first_offsets, self.marker_offsets, self.last_stable_offsets

    def append(self, *, producer_id: int, first_offset: int, marker_offset: int, last_stable_offset: int) -> None:
        invariant(
            not self.marker_offsets or self.marker_offsets[-1] < marker_offset,
            f"the abort marker at {marker_offset} comes after those already in the index",
        )
        self.producer_ids.append(producer_id)
        self.first_offsets.append(first_offset)
        self.marker_offsets.append(marker_offset)
        self.last_stable_offsets.append(last_stable_offset)

    def select(self, *, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """Every aborted transaction that may have records in the range; in marker order, perhaps a few too many."""
        selected = []
        producer_ids, first_offsets, marker_offsets, last_stable_offsets = self.columns()
        for row in range(bisect_left(marker_offsets, start_offset), len(marker_offsets)):
            if first_offsets[row] < end_offset:
                selected.append(AbortedTransaction(producer_ids[row], first_offsets[row]))
            if last_stable_offsets[row] >= end_offset:
                break
        return selected

    def forget_below(self, log_start_offset: int) -> None:
        """Drop the transactions whose markers lie before the log's start."""
        rows = bisect_left(self.marker_offsets, log_start_offset)
        for column in self.columns():
            del column[:rows]

    def forget_markers(self, marker_offsets: Iterable[int]) -> None:
        """Drop the transactions with these markers; markers that are not in the index are passed over."""
        gone = frozenset(marker_offsets)
        keep = [row for row, offset in enumerate(self.marker_offsets) if offset not in gone]
        for column in self.columns():
            column[:] = array("q", [column[row] for row in keep])


class DecidedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    marker_offset: int


@dataclass(slots=True)
class OpenTransactions:
    """The transactions that hold back the last stable offset of a partition.

    A transaction is *ongoing* from its first batch to its marker. From then until the marker is synced it is
    *decided*: a crash could still take the marker back, so no reader may rely on it. Both kinds are unstable.
    Ongoing ones are ordered by first offset, because batches arrive in offset order; decided ones by marker.
    """

    ongoing: OrderedDict[int, int] = field(default_factory=OrderedDict)
    """First offset -> producer id."""
    decided: list[DecidedTransaction] = field(default_factory=list)

    def start(self, *, first_offset: int, producer_id: int) -> None:
        self.ongoing[first_offset] = producer_id

    def complete(self, *, first_offset: int, marker_offset: int) -> None:
        producer_id = self.ongoing.pop(first_offset)
        self.decided.append(DecidedTransaction(producer_id, first_offset, marker_offset))

    def forget_decided_below(self, high_watermark: int) -> None:
        decided = self.decided
        synced = 0
        while synced < len(decided) and decided[synced].marker_offset < high_watermark:
            synced += 1
        del decided[:synced]

    def first_ongoing_offset(self) -> int | None:
        return next(iter(self.ongoing), None)

    def first_unstable_offset(self) -> int | None:
        first = self.first_ongoing_offset()
        if not self.decided:
            return first
        first_decided = min(transaction.first_offset for transaction in self.decided)
        return first_decided if first is None else min(first, first_decided)


class WaitingBatch(NamedTuple):
    """The lowest batch of a producer's transaction that was on its way to a partition which does not know the producer.

    It may be refused for a moment (the coordinator does not have the partition yet, the disk is full) and come again;
    no later one in flight may be stored before it.
    """

    producer_epoch: int
    lowest_sequence: int
    since_ms: int

    def joined_by(self, *, producer_epoch: int, base_sequence: int) -> "WaitingBatch":
        """A higher epoch is another transaction and starts over."""
        if producer_epoch > self.producer_epoch:
            return self._replace(producer_epoch=producer_epoch, lowest_sequence=base_sequence)
        if producer_epoch == self.producer_epoch and base_sequence < self.lowest_sequence:
            return self._replace(lowest_sequence=base_sequence)
        return self


@dataclass(slots=True)
class PartitionState:
    log_start_offset: int = 0
    end_offset: int = 0
    """The offset that the next record gets."""
    high_watermark: int = 0
    producers: dict[int, ProducerState] = field(default_factory=dict)
    transactions: OpenTransactions = field(default_factory=OpenTransactions)
    aborted: AbortedIndex = field(default_factory=AbortedIndex)
    waiting: dict[int, WaitingBatch] = field(default_factory=dict)
    """By producer id, for producers that the partition does not know. Not part of the fold: a restart forgets it."""
