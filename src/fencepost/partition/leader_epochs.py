"""At which offset each leader epoch of a partition began, for OffsetForLeaderEpoch.

A broker alone leads every partition, so there is usually one epoch, 0, from offset 0. The fold still follows the
epoch that each batch is stamped with. The newest epoch ends at the high watermark, where Kafka would say the
log's end: what is not synced is shown to nobody.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from fencepost.types import NO_OFFSET

NO_LEADER_EPOCH = -1


class LeaderEpochStart(NamedTuple):
    leader_epoch: int
    start_offset: int


class LeaderEpochEnd(NamedTuple):
    leader_epoch: int
    end_offset: int


@dataclass(slots=True)
class LeaderEpochs:
    starts: list[LeaderEpochStart] = field(default_factory=lambda: [LeaderEpochStart(0, 0)])
    """Never empty; both columns increase strictly. The first start follows the log's start."""

    @property
    def latest(self) -> int:
        return self.starts[-1].leader_epoch

    def begin(self, leader_epoch: int, *, start_offset: int) -> None:
        """An epoch that began where the one before it did leaves that one without records, so it replaces it."""
        if self.starts[-1].start_offset >= start_offset:
            self.starts.pop()
        self.starts.append(LeaderEpochStart(leader_epoch, start_offset))

    def forget_below(self, log_start_offset: int) -> None:
        starts = self.starts
        held = bisect_right(starts, log_start_offset, key=itemgetter(1)) - 1
        if held >= 0:
            starts[: held + 1] = [LeaderEpochStart(starts[held].leader_epoch, log_start_offset)]

    def end_of(self, leader_epoch: int, *, high_watermark: int) -> LeaderEpochEnd:
        """Where the newest epoch that is not above `leader_epoch` ends; -1 and -1 for one that never was."""
        if leader_epoch < 0 or leader_epoch > self.latest:
            return LeaderEpochEnd(NO_LEADER_EPOCH, NO_OFFSET)
        if leader_epoch == self.latest:
            return LeaderEpochEnd(leader_epoch, high_watermark)
        above = bisect_right(self.starts, leader_epoch, key=itemgetter(0))
        known = self.starts[above - 1].leader_epoch if above else leader_epoch
        return LeaderEpochEnd(known, min(self.starts[above].start_offset, high_watermark))
