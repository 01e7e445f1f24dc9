"""How the leader of a classic group shares out partitions: one pure function for each strategy, by Kafka's names.

`cooperative-sticky` is the only one whose members keep their partitions through a rebalance (KIP-429).
"""

from collections.abc import Callable

from fencepost.client.assignors.cooperative_sticky import assign_cooperative_sticky
from fencepost.client.assignors.member import Assigned, Member, PartitionCounts
from fencepost.client.assignors.range import assign_range
from fencepost.client.assignors.round_robin import assign_round_robin

ASSIGN: dict[str, Callable[[list[Member], PartitionCounts], Assigned]] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    "cooperative-sticky": assign_cooperative_sticky,
}
COOPERATIVE = frozenset({"cooperative-sticky"})

__all__ = ["ASSIGN", "COOPERATIVE", "Assigned", "Member", "PartitionCounts"]
