"""A KIP-848 consumer group and its members as immutable values: a fold over the group's records.

The group epoch grows with every change of membership or subscription; the target assignment carries the epoch that
it was computed for; each member carries the epoch that it has reached. A partition counts as owned by a member from
the moment that it is assigned until the member, having been asked to revoke it, no longer reports it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from fencepost.groups.states import ConsumerGroupState, MemberState

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
# A static member that will be back: it keeps its partitions until its session ends.
STATIC_LEAVE_EPOCH = -2


class TopicIdPartition(NamedTuple):
    topic_id: UUID
    partition: int


class TopicMetadata(NamedTuple):
    topic_id: UUID
    partition_count: int


NO_PARTITIONS: frozenset[TopicIdPartition] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """`assigned` and `pending_revocation` map each partition to the epoch in which it was assigned (KIP-1251)."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: tuple[str, ...] = ()
    subscribed_topic_regex: str | None = None
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: Mapping[TopicIdPartition, int] = field(default_factory=dict)
    pending_revocation: Mapping[TopicIdPartition, int] = field(default_factory=dict)

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroup:
    group_id: str
    group_epoch: int = 0
    members: Mapping[str, ConsumerMember] = field(default_factory=dict)
    subscription_metadata: Mapping[str, TopicMetadata] = field(default_factory=dict)
    assignment_epoch: int = 0
    target: Mapping[str, frozenset[TopicIdPartition]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        return next((member for member in self.members.values() if member.instance_id == instance_id), None)

    def owned_by_others(self, member_id: str) -> frozenset[TopicIdPartition]:
        """Partitions that must not be given to this member yet."""
        return frozenset(
            partition
            for member in self.members.values()
            if member.member_id != member_id
            for partition in (*member.assigned, *member.pending_revocation)
        )

    def preferred_assignor(self) -> str | None:
        """The assignor that most members ask for; None if none of them cares."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        return max(votes, key=votes.__getitem__, default=None)

    def is_subscribed_to(self, topic: str) -> bool:
        return not self.is_empty and topic in self.subscription_metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerTimers:
    """The volatile side of the group: its members' deadlines (monotonic), and the topics it last saw."""

    group_id: str
    session_deadlines_ms: Mapping[str, int] = field(default_factory=dict)
    # Members that were asked to revoke partitions and must have done so by then.
    rebalance_deadlines_ms: Mapping[str, int] = field(default_factory=dict)
    # The version of the topic catalogue that the subscriptions were last resolved against.
    topics_version: int = -1

    @property
    def next_deadline_ms(self) -> int | None:
        deadlines = (*self.session_deadlines_ms.values(), *self.rebalance_deadlines_ms.values())
        return min(deadlines, default=None)

    def with_session(self, member_id: str, deadline_ms: int) -> "ConsumerTimers":
        return replace(self, session_deadlines_ms={**self.session_deadlines_ms, member_id: deadline_ms})

    def with_rebalance(self, member_id: str, deadline_ms: int | None) -> "ConsumerTimers":
        deadlines = {id_: at for id_, at in self.rebalance_deadlines_ms.items() if id_ != member_id}
        if deadline_ms is not None:
            deadlines[member_id] = deadline_ms
        return replace(self, rebalance_deadlines_ms=deadlines)

    def without(self, member_id: str) -> "ConsumerTimers":
        sessions = {id_: at for id_, at in self.session_deadlines_ms.items() if id_ != member_id}
        return replace(self.with_rebalance(member_id, None), session_deadlines_ms=sessions)
