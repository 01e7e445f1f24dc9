"""The transactions that hold back the last stable offset of a partition.

A transaction is *ongoing* from its first batch to its marker. From then until the marker is synced it is
*decided*: a crash could still take the marker back, so nobody may rely on it. Both kinds are unstable.
Ongoing ones are ordered by first offset, because batches arrive in offset order; decided ones by marker.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple


class DecidedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    marker_offset: int


@dataclass(slots=True)
class OpenTransactions:
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
