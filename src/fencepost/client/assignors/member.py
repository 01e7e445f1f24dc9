"""A member of a group as its leader sees it, and the order that members are served in."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fencepost.types import TopicPartition

PartitionCounts = Mapping[str, int]
"""Partitions of each topic that exists."""

Assigned = dict[str, list[TopicPartition]]
"""By member id; every member is in it."""


class Member(NamedTuple):
    member_id: str
    topics: frozenset[str]
    group_instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation_id: int = -1


def in_order(members: Iterable[Member]) -> list[Member]:
    """Static members by their instance ids, then the others by their member ids, as in Kafka."""
    return sorted(
        members,
        key=lambda member: (
            member.group_instance_id is None,
            member.group_instance_id or member.member_id,
        ),
    )


def all_partitions(members: Iterable[Member], counts: PartitionCounts) -> list[TopicPartition]:
    """The partitions of every topic that somebody subscribes to and that exists, in order."""
    topics = sorted({topic for member in members for topic in member.topics})
    return [TopicPartition(topic, index) for topic in topics for index in range(counts.get(topic, 0))]
