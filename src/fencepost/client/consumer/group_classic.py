"""Membership by the classic protocol: JoinGroup, SyncGroup, Heartbeat; one member, the leader, shares out partitions.

Eager: everything is given up before joining again. Cooperative (KIP-429): partitions are kept while joining, what the
new assignment lacks is given up afterwards, and the member joins once more so that it can be given away.

The functions write and read what members tell each other through the coordinator: subscriptions and assignments.
"""

import time
from collections.abc import Iterable
from struct import Struct

from fencepost.client.consumer.assignors import ASSIGN, COOPERATIVE, Member, PartitionCounts
from fencepost.client.consumer.group_member import NOTHING, Change, GroupMember, Partitions
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import ClientError, GroupFenced, RetriableError
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.client.values import NO_GENERATION, NO_MEMBER_ID, by_topic
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from fencepost.wire.messages.consumer_protocol_assignment import TopicPartition as AssignedPartitions
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.consumer_protocol_subscription import TopicPartition as OwnedPartitions
from fencepost.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from fencepost.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from fencepost.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

SUBSCRIPTION_VERSION = 3
ASSIGNMENT_VERSION = 3
PROTOCOL_TYPE = "consumer"
JOIN_GRACE_S = 5.0
"""What the coordinator may take beyond the rebalance timeout to answer a join."""
REBALANCING = frozenset({ErrorCode.REBALANCE_IN_PROGRESS})
FORGOTTEN = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})

_GENERATION = Struct(">i")
"""User data of cooperative-sticky: the generation, for members that speak a subscription older than version 2."""


def is_cooperative(assignors: Iterable[str]) -> bool:
    """Partitions are kept through a rebalance only if every assignor that may be chosen plays along."""
    return all(name in COOPERATIVE for name in assignors)


def protocols(
    assignors: Iterable[str], topics: Iterable[str], owned: Iterable[TopicPartition], generation_id: int
) -> list[JoinGroupRequestProtocol]:
    offered = []
    for name in assignors:
        subscription = ConsumerProtocolSubscription(
            topics=sorted(topics),
            user_data=_GENERATION.pack(generation_id) if name in COOPERATIVE else None,
            owned_partitions=[OwnedPartitions(*row) for row in by_topic(sorted(owned)).items()],
            generation_id=generation_id,
        )
        offered.append(JoinGroupRequestProtocol(name, subscription.to_bytes(SUBSCRIPTION_VERSION)))
    return offered


def read_members(rows: Iterable[JoinGroupResponseMember]) -> list[Member]:
    members = []
    for row in rows:
        subscription = ConsumerProtocolSubscription.from_bytes(row.metadata)
        generation_id = subscription.generation_id
        if generation_id < 0 and subscription.user_data is not None and len(subscription.user_data) == _GENERATION.size:
            generation_id = _GENERATION.unpack(subscription.user_data)[0]
        members.append(
            Member(
                member_id=row.member_id,
                topics=frozenset(subscription.topics),
                group_instance_id=row.group_instance_id,
                owned=tuple(
                    TopicPartition(topic.topic, index)
                    for topic in subscription.owned_partitions
                    for index in topic.partitions
                ),
                generation_id=generation_id,
            )
        )
    return members


def assign(assignor: str, members: list[Member], counts: PartitionCounts) -> list[SyncGroupRequestAssignment]:
    return [
        SyncGroupRequestAssignment(member_id, _encode_assignment(partitions))
        for member_id, partitions in ASSIGN[assignor](members, counts).items()
    ]


def read_assignment(data: bytes) -> frozenset[TopicPartition]:
    """An empty answer is an empty assignment: the leader had nothing for this member."""
    if not data:
        return frozenset()
    assignment = ConsumerProtocolAssignment.from_bytes(data)
    return frozenset(
        TopicPartition(topic.topic, index) for topic in assignment.assigned_partitions for index in topic.partitions
    )


def _encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    rows = [AssignedPartitions(*row) for row in by_topic(sorted(partitions)).items()]
    return ConsumerProtocolAssignment(assigned_partitions=rows).to_bytes(ASSIGNMENT_VERSION)


class ClassicMember(GroupMember):
    _must_join = True
    _leads: dict[str, int] | None = None
    """Of the leader: the partitions that there were when it began to lead, by topic."""
    _session_ends_at_s = 0.0
    """Unless the coordinator is heard again. Its own clock began a little earlier."""

    @property
    def _is_eager(self) -> bool:
        return not is_cooperative(self._settings.assignors)

    def subscribe(self, topics: Iterable[str]) -> None:
        with self._news:
            self._must_join = True
            super().subscribe(topics)

    def _step(self) -> None:
        if self._must_join:
            if self._is_eager and self._owned and not self._hand_over(Change(NOTHING)):
                return
            self._is_joining = True
            try:
                self._join()
            finally:
                self._is_joining = False
            return
        self._wait(self._beat_at_s - time.monotonic(), lambda: self._is_closing or self._must_join)
        if not self._is_closing and not self._must_join:
            self._stay()

    def _join(self) -> None:
        with self._news:
            owned, topics = self._owned, self._topics
            self._must_join = False
        try:
            joined = self._ask_to_join(owned, topics)
            self._leads = None
            assignments = self._lead(joined) if joined.leader == joined.member_id else []
            target = self._sync(joined, assignments)
        except GroupFenced as problem:
            self._must_join = True
            if problem.error_code in FORGOTTEN:
                self._lose(keeps_id=problem.error_code == ErrorCode.ILLEGAL_GENERATION)
            elif problem.error_code not in REBALANCING:
                raise
            return
        except ClientError:
            self._must_join = True
            raise
        if not self._is_eager and owned - target:
            self._must_join = True
        self._hand_over(Change(target))

    def _ask_to_join(self, owned: Partitions, topics: list[str]) -> JoinGroupResponse:
        settings = self._settings
        while True:
            request = JoinGroupRequest(
                group_id=settings.group_id,
                session_timeout_ms=settings.session_timeout_ms,
                rebalance_timeout_ms=settings.max_poll_interval_ms,
                member_id=self._member_id,
                group_instance_id=self._instance_id,
                protocol_type=PROTOCOL_TYPE,
                protocols=protocols(settings.assignors, topics, owned, self._generation_id),
            )
            response = self._call(request, JoinGroupResponse, timeout_s=self._join_timeout_s)
            if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self._member_id = response.member_id
                continue
            self._refuse(response.error_code, "JoinGroup")
            with self._news:
                self._member_id, self._generation_id = response.member_id, response.generation_id
            return response

    @property
    def _join_timeout_s(self) -> float:
        return max(self._settings.request_timeout_ms, self._settings.max_poll_interval_ms) / 1000 + JOIN_GRACE_S

    def _lead(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        """Share out, and watch the topics from here on; a static leader that came back (KIP-814) only watches."""
        members = read_members(joined.members)
        topics = sorted({topic for member in members for topic in member.topics})
        self._cluster.refresh(topics)
        self._leads = self._partition_counts(topics)
        return [] if joined.skip_assignment else assign(joined.protocol_name or "", members, self._leads)

    def _sync(self, joined: JoinGroupResponse, assignments: list[SyncGroupRequestAssignment]) -> Partitions:
        request = SyncGroupRequest(
            group_id=self._settings.group_id,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id=self._instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=joined.protocol_name,
            assignments=assignments,
        )
        response = self._call(request, SyncGroupResponse, timeout_s=self._join_timeout_s)
        self._refuse(response.error_code, "SyncGroup")
        self._beat_at_s = time.monotonic() + self._settings.heartbeat_interval_ms / 1000
        self._renew_session()
        return read_assignment(response.assignment)

    def _hand_over(self, change: Change) -> bool:
        """Offer, and stay in the group until the consumer has settled; False if it did not come to that.

        Trouble that passes is sat out here, so that no join begins with an offer open: `poll` would follow it in a
        generation that it was not made for.
        """
        if change.target == self._owned and not change.is_lost:
            return True
        self._offer(change)
        backoff = Backoff(self._settings)
        while not self._is_closing:
            pause_s = 1.0 if change.is_lost else self._beat_at_s - time.monotonic()
            self._wait(pause_s, lambda: self._is_closing or self._change is None)
            if self._change is None:
                return True
            if not change.is_lost and not self._is_closing:
                self._try_to_stay(backoff)
                if self._generation_id < 0:
                    return False
        return False

    def _try_to_stay(self, backoff: Backoff) -> None:
        """A lost heartbeat is sent again. Once the session is over, what is on offer may be another's already."""
        try:
            self._stay()
        except RetriableError as problem:
            self._note(problem)
            if time.monotonic() < self._session_ends_at_s:
                self._beat_at_s = time.monotonic() + backoff.next_pause_s()
            else:
                # A coordinator that has taken over begins every session anew: it may still know this id.
                self._lose(keeps_id=True)

    def _stay(self) -> None:
        """A heartbeat, if one is due; out of the group if the program is silent."""
        if self._is_silent:
            self._say_goodbye(self._deadline)
            self._lose()
            return
        if self._leads is not None and self._leads != self._partition_counts(self._leads):
            self._must_join = True
        if time.monotonic() < self._beat_at_s:
            return
        request = HeartbeatRequest(
            group_id=self._settings.group_id,
            generation_id=self._generation_id,
            member_id=self._member_id,
            group_instance_id=self._instance_id,
        )
        self._beat_at_s = time.monotonic() + self._settings.heartbeat_interval_ms / 1000
        response = self._call(request, HeartbeatResponse, self._beat_deadline)
        if response.error_code in REBALANCING:
            self._must_join = True
            self._renew_session()
        elif response.error_code in FORGOTTEN:
            self._lose(keeps_id=response.error_code == ErrorCode.ILLEGAL_GENERATION)
        else:
            self._refuse(response.error_code, "Heartbeat")
            self._renew_session()

    def _renew_session(self) -> None:
        self._session_ends_at_s = time.monotonic() + self._settings.session_timeout_ms / 1000

    @property
    def _beat_deadline(self) -> Deadline:
        """No later than the end of the session, so that it is not missed; once it is over there is no hurry."""
        left_s = self._session_ends_at_s - time.monotonic()
        return Deadline(self._deadline.at_most(left_s)) if left_s > 0 else self._deadline

    def _lose(self, *, keeps_id: bool = False) -> None:
        """Out of the group: what was owned may be another member's already.

        One who only missed a generation is still known by its id: under another one the group would wait for both.
        """
        with self._news:
            self._generation_id = NO_GENERATION
            self._member_id = self._member_id if keeps_id else NO_MEMBER_ID
            self._must_join = True
        self._hand_over(Change(NOTHING, is_lost=True))

    def _say_goodbye(self, deadline: Deadline) -> None:
        """A static member stays one: it comes back under its instance id, or its session runs out."""
        if self._member_id == NO_MEMBER_ID or self._instance_id is not None:
            return
        request = LeaveGroupRequest(
            group_id=self._settings.group_id,
            member_id=self._member_id,
            members=[MemberIdentity(self._member_id, self._instance_id)],
        )
        self._call(request, LeaveGroupResponse, deadline)

    def _partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        known = self._cluster.metadata.topics
        return {topic: known[topic].partition_count if topic in known else 0 for topic in topics}

    def _refuse(self, error_code: int, api_name: str) -> None:
        if error_code:
            raise error_of(error_code, api_name, what=f"group '{self._settings.group_id}'")
