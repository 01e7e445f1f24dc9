"""What an assignor is asked: who subscribes to what, how many partitions there are, and who has what so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from fencepost.groups.consumer_group import NO_PARTITIONS, TopicIdPartition

TargetAssignment = dict[str, frozenset[TopicIdPartition]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentProblem:
    """`subscriptions` names existing topics only; `current` is the previous target assignment."""

    subscriptions: Mapping[str, frozenset[UUID]]
    instance_ids: Mapping[str, str | None]
    partition_counts: Mapping[UUID, int]
    current: Mapping[str, frozenset[TopicIdPartition]]

    @property
    def member_ids(self) -> list[str]:
        """In an order that a restart of a client does not change: static members first, by instance id."""
        return sorted(self.subscriptions, key=self._rank)

    def _rank(self, member_id: str) -> tuple[bool, str]:
        instance_id = self.instance_ids.get(member_id)
        return (instance_id is None, member_id if instance_id is None else instance_id)

    def subscribers(self) -> dict[UUID, list[str]]:
        """The members of each topic, in order."""
        by_topic: dict[UUID, list[str]] = {}
        for member_id in self.member_ids:
            for topic_id in sorted(self.subscriptions[member_id]):
                by_topic.setdefault(topic_id, []).append(member_id)
        return by_topic

    def partitions_of(self, topic_id: UUID) -> list[TopicIdPartition]:
        return [TopicIdPartition(topic_id, index) for index in range(self.partition_counts[topic_id])]

    def kept(self, member_id: str) -> frozenset[TopicIdPartition]:
        """What the member has and may still have."""
        topics = self.subscriptions[member_id]
        current = self.current.get(member_id, NO_PARTITIONS)
        return frozenset(
            each
            for each in current
            if each.topic_id in topics and each.partition < self.partition_counts[each.topic_id]
        )
