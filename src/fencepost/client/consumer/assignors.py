"""How the leader of a classic group shares out partitions: one pure function for each strategy, by Kafka's names.

`cooperative-sticky` is the only one whose members keep their partitions through a rebalance (KIP-429).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from fencepost.types import TopicPartition

PartitionCounts = Mapping[str, int]
"""Partitions of each topic that exists."""

Assigned = dict[str, list[TopicPartition]]
"""By member id; every member is in it."""


class Member(NamedTuple):
    """A member of a group as its leader sees it."""

    member_id: str
    topics: frozenset[str]
    group_instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation_id: int = -1


def in_order(members: Iterable[Member]) -> list[Member]:
    """Static members by their instance ids, then the others by their member ids, as in Kafka."""
    return sorted(members, key=lambda it: (it.group_instance_id is None, it.group_instance_id or it.member_id))


def all_partitions(members: Iterable[Member], counts: PartitionCounts) -> list[TopicPartition]:
    """The partitions of every topic that a member subscribes to and that exists, in order."""
    topics = sorted({topic for member in members for topic in member.topics})
    return [TopicPartition(topic, index) for topic in topics for index in range(counts.get(topic, 0))]


def assign_cooperative_sticky(members: list[Member], counts: PartitionCounts) -> Assigned:
    """Every member keeps what it has as far as that is fair, and nothing changes hands in one step.

    Balanced means that no single partition could move to a member with at least two fewer. A partition that is to move
    is given to no member this time: its owner sees that it is gone, gives it up and asks to join again, and then it is
    free (KIP-429). What members of an earlier generation say they own is not believed, nor what two members claim.
    """
    owners = believed_owners(members, counts)
    balanced = assign_sticky(members, counts, owners)
    return {
        member_id: [
            topic_partition for topic_partition in partitions if owners.get(topic_partition, member_id) == member_id
        ]
        for member_id, partitions in balanced.items()
    }


def believed_owners(members: list[Member], counts: PartitionCounts) -> dict[TopicPartition, str]:
    """Who owns what, as far as it can be believed and still makes sense."""
    newest = max((member.generation_id for member in members if member.owned), default=-1)
    present = [member for member in members if member.generation_id == newest]
    claims = Counter(topic_partition for member in present for topic_partition in member.owned)
    return {
        topic_partition: member.member_id
        for member in present
        for topic_partition in member.owned
        if claims[topic_partition] == 1
        and topic_partition.topic in member.topics
        and topic_partition.partition < counts.get(topic_partition.topic, 0)
    }


def assign_sticky(members: list[Member], counts: PartitionCounts, owners: dict[TopicPartition, str]) -> Assigned:
    """Balanced, with as few partitions in other hands as the owners' claims allow."""
    table = in_order(members)
    assigned: Assigned = {member.member_id: [] for member in table}
    for topic_partition, member_id in sorted(owners.items()):
        assigned[member_id].append(topic_partition)
    for topic_partition in all_partitions(members, counts):
        if topic_partition not in owners:
            assigned[_least_loaded(table, assigned, topic_partition)].append(topic_partition)
    while (move := _improvement(table, assigned)) is not None:
        topic_partition, giver, taker = move
        assigned[giver].remove(topic_partition)
        assigned[taker].append(topic_partition)
    return {member_id: sorted(partitions) for member_id, partitions in assigned.items()}


def _least_loaded(table: list[Member], assigned: Assigned, topic_partition: TopicPartition) -> str:
    subscribers = [member.member_id for member in table if topic_partition.topic in member.topics]
    return min(subscribers, key=lambda member_id: len(assigned[member_id]))


def _improvement(table: list[Member], assigned: Assigned) -> tuple[TopicPartition, str, str] | None:
    """A partition to take from the fullest member that has one for a member with at least two fewer."""
    topics = {member.member_id: member.topics for member in table}
    by_load = sorted(assigned, key=lambda member_id: len(assigned[member_id]))
    for giver in reversed(by_load):
        for taker in by_load:
            if len(assigned[taker]) + 2 > len(assigned[giver]):
                break
            for topic_partition in reversed(assigned[giver]):
                if topic_partition.topic in topics[taker]:
                    return topic_partition, giver, taker
    return None


def assign_range(members: list[Member], counts: PartitionCounts) -> Assigned:
    """Of each topic every subscriber gets a run of neighbouring partitions, the first ones one more if need be.

    So that partitions of the same number of two topics with as many partitions go to the same member.
    """
    assigned: Assigned = {member.member_id: [] for member in members}
    for topic in sorted({topic for member in members for topic in member.topics}):
        subscribers = in_order(member for member in members if topic in member.topics)
        each, more = divmod(counts.get(topic, 0), len(subscribers))
        start = 0
        for index, member in enumerate(subscribers):
            end = start + each + (index < more)
            assigned[member.member_id] += [TopicPartition(topic, partition) for partition in range(start, end)]
            start = end
    return assigned


def assign_round_robin(members: list[Member], counts: PartitionCounts) -> Assigned:
    """All partitions of all topics in order, dealt to members in turn; who does not subscribe is skipped."""
    assigned: Assigned = {member.member_id: [] for member in members}
    table = in_order(members)
    turn = 0
    for topic_partition in all_partitions(members, counts):
        while topic_partition.topic not in table[turn % len(table)].topics:
            turn += 1
        assigned[table[turn % len(table)].member_id].append(topic_partition)
        turn += 1
    return assigned


ASSIGN: dict[str, Callable[[list[Member], PartitionCounts], Assigned]] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    "cooperative-sticky": assign_cooperative_sticky,
}
COOPERATIVE = frozenset({"cooperative-sticky"})

__all__ = ["ASSIGN", "COOPERATIVE", "Assigned", "Member", "PartitionCounts"]
