"""Cooperative sticky: everybody keeps what they have as far as that is fair, and nothing changes hands in one step.

Balanced means that no single partition could move to a member with at least two fewer. A partition that is to move is
given to nobody this time: its owner sees that it is gone, gives it up and asks to join again, and then it is free
(KIP-429). What members of an earlier generation say they own is not believed, nor what two members claim.
"""

from collections import Counter

from fencepost.client.assignors.member import Assigned, Member, PartitionCounts, all_partitions, in_order
from fencepost.types import TopicPartition


def assign_cooperative_sticky(members: list[Member], counts: PartitionCounts) -> Assigned:
    owners = believed_owners(members, counts)
    balanced = assign_sticky(members, counts, owners)
    return {
        member_id: [where for where in partitions if owners.get(where, member_id) == member_id]
        for member_id, partitions in balanced.items()
    }


def believed_owners(members: list[Member], counts: PartitionCounts) -> dict[TopicPartition, str]:
    """Who owns what, as far as it can be believed and still makes sense."""
    newest = max((member.generation_id for member in members if member.owned), default=-1)
    present = [member for member in members if member.generation_id == newest]
    claims = Counter(where for member in present for where in member.owned)
    return {
        where: member.member_id
        for member in present
        for where in member.owned
        if claims[where] == 1 and where.topic in member.topics and where.partition < counts.get(where.topic, 0)
    }


def assign_sticky(members: list[Member], counts: PartitionCounts, owners: dict[TopicPartition, str]) -> Assigned:
    """Balanced, with as few partitions in other hands as the owners' claims allow."""
    table = in_order(members)
    assigned: Assigned = {member.member_id: [] for member in table}
    for where, member_id in sorted(owners.items()):
        assigned[member_id].append(where)
    for where in all_partitions(members, counts):
        if where not in owners:
            assigned[_least_loaded(table, assigned, where)].append(where)
    while (move := _improvement(table, assigned)) is not None:
        where, giver, taker = move
        assigned[giver].remove(where)
        assigned[taker].append(where)
    return {member_id: sorted(partitions) for member_id, partitions in assigned.items()}


def _least_loaded(table: list[Member], assigned: Assigned, where: TopicPartition) -> str:
    subscribers = [member.member_id for member in table if where.topic in member.topics]
    return min(subscribers, key=lambda member_id: len(assigned[member_id]))


def _improvement(table: list[Member], assigned: Assigned) -> tuple[TopicPartition, str, str] | None:
    """A partition to take from the fullest member that has one for a member with at least two fewer."""
    topics = {member.member_id: member.topics for member in table}
    by_load = sorted(assigned, key=lambda member_id: len(assigned[member_id]))
    for giver in reversed(by_load):
        for taker in by_load:
            if len(assigned[taker]) + 2 > len(assigned[giver]):
                break
            for where in reversed(assigned[giver]):
                if where.topic in topics[taker]:
                    return where, giver, taker
    return None
