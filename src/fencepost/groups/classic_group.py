"""One classic group and its members as immutable values: what they are, and questions about them.

How a group changes is in `classic_turn`. `to_metadata` is the part that is persisted, when a generation becomes stable
or empty. The rest, parked requests and deadlines (monotonic milliseconds), is memory only: after a restart members go
on in their generation, as in Kafka.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.errors import ErrorCode, WireError
from fencepost.groups.decision import Call
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.message import VERSION_PREFIX_BYTES
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.group_metadata_record import GroupMetadataValue, MemberMetadata
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol

CONSUMER_PROTOCOL_TYPE = "consumer"
NO_MEMBER_ID = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    # The assignors that it offers. What is in their metadata is between the members.
    protocols: Sequence[JoinGroupRequestProtocol]
    assignment: bytes = b""

    # Memory only from here on: parked requests, and the end of the session.
    join_call: Call | None = field(default=None, repr=False)
    sync_call: Call | None = field(default=None, repr=False)
    # A member that waits for its first generation may expire while its join is parked: it cannot send heartbeats
    # yet, and a client that gave up would otherwise stay in the group forever.
    is_new: bool = False
    # None: not armed. Only between recovery and `resume_members`.
    session_deadline_ms: int | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_awaiting_join(self) -> bool:
        return self.join_call is not None

    @property
    def is_awaiting_sync(self) -> bool:
        return self.sync_call is not None

    @property
    def expires_at_ms(self) -> int | None:
        """When the session ends, unless something is heard of the member. A parked request keeps it alive."""
        if not self.is_new and (self.is_awaiting_join or self.is_awaiting_sync):
            return None
        return self.session_deadline_ms

    def metadata(self, protocol_name: str | None) -> bytes:
        return next((offer.metadata for offer in self.protocols if offer.name == protocol_name), b"")


class InitialDelay(NamedTuple):
    """A new group waits for more members, each new one extending the wait, up to the rebalance timeout."""

    delay_ms: int
    remaining_ms: int
    is_member_added: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicGroup:
    group_id: str
    state: ClassicGroupState = ClassicGroupState.EMPTY
    generation_id: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str | None = None
    current_state_timestamp_ms: int = -1
    members: Mapping[str, Member] = field(default_factory=dict)
    # KIP-394: ids that were handed out and not yet used, with the time when they are forgotten.
    pending_members: Mapping[str, int] = field(default_factory=dict)
    pending_sync_members: frozenset[str] = frozenset()
    join_deadline_ms: int | None = None
    sync_deadline_ms: int | None = None
    initial_delay: InitialDelay | None = None

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicGroupState.EMPTY

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def has_all_members_joined(self) -> bool:
        return not self.pending_members and all(member.is_awaiting_join for member in self.members.values())

    @property
    def awaiting_join_count(self) -> int:
        return sum(member.is_awaiting_join for member in self.members.values())

    @property
    def next_deadline_ms(self) -> int | None:
        """When a timer has something to do for this group."""
        deadlines = [self.join_deadline_ms, self.sync_deadline_ms, *self.pending_members.values()]
        deadlines += [member.expires_at_ms for member in self.members.values()]
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def static_member_id(self, group_instance_id: str) -> str | None:
        return next((m.member_id for m in self.members.values() if m.group_instance_id == group_instance_id), None)

    def refusal_of_member(
        self, member_id: str, group_instance_id: str | None, generation_id: int | None = None
    ) -> ErrorCode | None:
        """Why this member may not speak for the group, in this generation if one is given; None if it may."""
        if group_instance_id is not None:
            owner_id = self.static_member_id(group_instance_id)
            if owner_id is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if owner_id != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        if member_id not in self.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return None if generation_id in (None, self.generation_id) else ErrorCode.ILLEGAL_GENERATION

    def candidate_protocols(self) -> frozenset[str]:
        """Protocols that every member supports."""
        offers = [frozenset(offer.name for offer in member.protocols) for member in self.members.values()]
        return frozenset.intersection(*offers) if offers else frozenset()

    def supports_protocols(self, protocol_type: str, protocols: Iterable[JoinGroupRequestProtocol]) -> bool:
        """Whether a member with these protocols may join."""
        names = {offer.name for offer in protocols}
        if self.is_empty:
            return bool(protocol_type) and bool(names)
        shared = names & self.candidate_protocols() if self.members else names
        return protocol_type == self.protocol_type and bool(shared)

    def select_protocol(self) -> str:
        """Each member votes for its favourite among those that all support; the earliest vote decides a draw."""
        candidates = self.candidate_protocols()
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = next(offer.name for offer in member.protocols if offer.name in candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(votes, key=votes.__getitem__)

    def subscribed_topics(self) -> frozenset[str] | None:
        """What the members consume, if they speak the consumer protocol and it can be read; None if not known."""
        if not self.uses_consumer_protocol or (self.members and self.protocol_name is None):
            return None
        topics: frozenset[str] = frozenset()
        for member in self.members.values():
            subscribed = read_subscribed_topics(member.metadata(self.protocol_name))
            if subscribed is None:
                return None
            topics |= subscribed
        return topics

    def is_subscribed_to(self, topic: str) -> bool:
        """When in doubt about a group of consumers, yes: the answer protects offsets from being removed."""
        topics = self.subscribed_topics()
        return self.uses_consumer_protocol if topics is None else topic in topics

    def to_metadata(self) -> GroupMetadataValue:
        return GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation_id,
            protocol=self.protocol_name,
            leader=self.leader,
            current_state_timestamp=self.current_state_timestamp_ms,
            members=[
                MemberMetadata(
                    member_id=member.member_id,
                    group_instance_id=member.group_instance_id,
                    client_id=member.client_id,
                    client_host=member.client_host,
                    rebalance_timeout=member.rebalance_timeout_ms,
                    session_timeout=member.session_timeout_ms,
                    subscription=member.metadata(self.protocol_name),
                    assignment=member.assignment,
                )
                for member in self.members.values()
            ],
        )


def from_metadata(group_id: str, metadata: GroupMetadataValue) -> ClassicGroup:
    """The group as a restart finds it: stable if it has members. Their sessions are not armed yet."""
    members = {
        member.member_id: Member(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout,
            session_timeout_ms=member.session_timeout,
            protocols=[JoinGroupRequestProtocol(metadata.protocol or "", member.subscription)],
            assignment=member.assignment,
        )
        for member in metadata.members
    }
    return ClassicGroup(
        group_id=group_id,
        state=ClassicGroupState.STABLE if members else ClassicGroupState.EMPTY,
        generation_id=metadata.generation,
        protocol_type=metadata.protocol_type or None,
        protocol_name=metadata.protocol,
        leader=metadata.leader or None,
        current_state_timestamp_ms=metadata.current_state_timestamp,
        members=members,
    )


def read_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics that a member subscribes to, or None if these bytes are not a subscription.

    This is all that the broker reads of the consumers' embedded protocol. Version 0 is a prefix of every later one.
    """
    try:
        subscription = ConsumerProtocolSubscription.decode(metadata, 0, VERSION_PREFIX_BYTES)
    except WireError:
        return None
    return frozenset(subscription.topics)
