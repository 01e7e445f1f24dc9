"""What is still wanted of the journal, as the broker sees it at one moment; it is asked on another thread later.

Below its log start a partition is not wanted. A partition reference that the catalogue does not know belongs to a
deleted topic and is not wanted at all, unless it was given out after the moment. The catalogue's own stream is not
wanted either: the journal only asks about what two checkpoints cover, and they hold the whole catalogue.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fencepost.broker.catalogue import CATALOGUE_REF
from fencepost.broker.compaction import CompactionPlan
from fencepost.broker.state import BrokerState
from fencepost.types import Buffer

NOTHING_WANTED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class BrokerCleaningPolicy:
    start_offsets: Mapping[int, int]
    next_ref: int
    plans: Mapping[int, CompactionPlan]

    def start_offset(self, partition_ref: int) -> int:
        if partition_ref >= self.next_ref:
            return 0
        return self.start_offsets.get(partition_ref, NOTHING_WANTED)

    def is_compacted(self, partition_ref: int) -> bool:
        return partition_ref in self.plans

    def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
        return self.plans[partition_ref].compact(batch)


def take_policy(state: BrokerState, plans: Mapping[int, CompactionPlan]) -> BrokerCleaningPolicy:
    """Plans that have nothing to do would only make the journal read segments in vain."""
    starts = {ref: log.state.log_start_offset for ref, log in state.logs_by_ref.items() if ref != CATALOGUE_REF}
    return BrokerCleaningPolicy(
        start_offsets=MappingProxyType(starts),
        next_ref=state.catalogue.next_ref,
        plans=MappingProxyType({ref: plan for ref, plan in plans.items() if not plan.is_empty}),
    )
