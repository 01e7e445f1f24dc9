"""The state of one topic-partition: everything that a fold over its batches yields.

`decide_*` functions read it and change nothing, `apply_*` functions change it and never refuse. Offsets hold
`log_start_offset <= last stable offset <= high_watermark <= end_offset`. The high watermark is the end of what is
synced; it comes from outside. Verification guards live in memory only: after a restart the first
transactional batch asks the coordinator again.
"""

from dataclasses import dataclass, field

from fencepost.partition.aborted_index import AbortedIndex
from fencepost.partition.leader_epochs import LeaderEpochs
from fencepost.partition.open_transactions import OpenTransactions
from fencepost.partition.producer_state import ProducerState
from fencepost.partition.verification_guard import VerificationGuard


@dataclass(slots=True)
class PartitionState:
    log_start_offset: int = 0
    end_offset: int = 0
    """The offset that the next record gets."""
    high_watermark: int = 0
    leader_epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    producers: dict[int, ProducerState] = field(default_factory=dict)
    transactions: OpenTransactions = field(default_factory=OpenTransactions)
    aborted: AbortedIndex = field(default_factory=AbortedIndex)
    guards: dict[int, VerificationGuard] = field(default_factory=dict, compare=False)
    """By producer id."""
    next_guard_id: int = field(default=1, compare=False)

    @property
    def leader_epoch(self) -> int:
        return self.leader_epochs.latest
