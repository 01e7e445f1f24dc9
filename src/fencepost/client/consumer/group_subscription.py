"""The consumer's own thread's side of a group: takes the changes that its member offers, and calls the program back.

`on_revoked` hears of partitions while they are still this consumer's: there is time to commit. `on_lost` (or
`on_revoked`, without one) hears of partitions that another member may have already. `on_assigned` hears of partitions
before the first record of them is looked for: there is time to seek, or to fence who had them before.
"""

import re
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.consumer.assignment import Assignment
from fencepost.client.consumer.group_classic import ClassicMember
from fencepost.client.consumer.group_consumer import ConsumerProtocolMember
from fencepost.client.consumer.group_member import NOTHING, Change, GroupMember
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import ClientError
from fencepost.client.net.connection import GROUP_VERSION
from fencepost.client.time_limits import Deadline
from fencepost.client.values import ConsumerGroupMetadata
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition

OnPartitions = Callable[[list[TopicPartition]], None]

NOT_A_CONSUMER_GROUP = frozenset(
    {ErrorCode.UNSUPPORTED_VERSION, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ErrorCode.GROUP_ID_NOT_FOUND}
)
"""What a coordinator says to a KIP-848 member where the group, or the whole cluster, is classic."""


class TopicPattern:
    """Topics by a regular expression: which of the cluster's topics are meant, looked up from time to time.

    The client matches, with Python's `re`, over the whole name, and tells the coordinator names. So an expression means
    the same in a group of either protocol, on every broker. Internal topics are never meant. Topics that come later are
    found when metadata is asked for again (`metadata.max.age.ms`).
    """

    def __init__(self, cluster: Cluster, expression: str | re.Pattern[str]) -> None:
        self._cluster = cluster
        self._expression = re.compile(expression)
        self._look_at_s = 0.0

    def look(self) -> list[str] | None:
        """The topics that match, in order; None if it is too early to ask again. Raises `RetriableError`."""
        now_s = time.monotonic()
        if now_s < self._look_at_s:
            return None
        self._look_at_s = now_s + self._cluster.settings.retry_backoff_max_ms / 1000
        topics = self._cluster.refresh(None).topics
        self._look_at_s = now_s + self._cluster.settings.metadata_max_age_ms / 1000
        return sorted(name for name, it in topics.items() if not it.is_internal and self._expression.fullmatch(name))


class Callbacks(NamedTuple):
    on_assigned: OnPartitions | None = None
    on_revoked: OnPartitions | None = None
    on_lost: OnPartitions | None = None


class GroupSubscription:
    def __init__(
        self,
        cluster: Cluster,
        settings: ConsumerSettings,
        assignment: Assignment,
        topics: Iterable[str],
        *,
        pattern: TopicPattern | None = None,
        callbacks: Callbacks,
        before_revocation: Callable[[], None],
        wake: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._assignment = assignment
        self._before_revocation = before_revocation
        self._wake = wake
        self._has_joined = False
        self._is_changing = False
        self._change: Change | None = None
        self._unannounced: list[TopicPartition] = []
        """Partitions that we have, and whose `on_assigned` has failed."""
        self._member: GroupMember | None = None
        self.callbacks = callbacks
        self.topics = list(topics)
        self.pattern = pattern
        """What `topics` follow, if they were not named."""

    def look(self) -> None:
        """Follow the group: may raise what ended the membership. Does nothing inside a callback, or while the program
        has yet to hear of the last change."""
        if self._is_changing or self._change is not None:
            return
        self._follow_pattern()
        if self._member is None:
            self._member = self._start(self._member_class())
        try:
            change = self._member.poll()
        except ClientError as problem:
            if not self._may_fall_back(problem):
                raise
            self._member = self._start(ClassicMember)
            return
        if change is not None:
            self._has_joined = True
            self._change = change

    def tell(self) -> None:
        """Make the change that was seen, and call back. What a callback raises is the program's own: it comes out of
        here as it is, and partitions whose `on_assigned` failed are announced again before a record of them is looked
        for."""
        if self._is_changing:
            return
        if self._change is not None:
            assert self._member is not None
            change, self._change = self._change, None
            self._become(change, self._member)
        elif self._unannounced:
            self._announce(self._unannounced)

    def change_topics(self, topics: Iterable[str]) -> None:
        self.topics = list(topics)
        if self._member is not None:
            self._member.subscribe(self.topics)

    def _follow_pattern(self) -> None:
        found = self.pattern.look() if self.pattern is not None else None
        if found is not None and found != self.topics:
            self.change_topics(found)

    def identity(self) -> ConsumerGroupMetadata:
        if self._member is None:
            return ConsumerGroupMetadata(
                self._settings.group_id, group_instance_id=self._settings.group_instance_id or None
            )
        return self._member.identity()

    def has_moved_on(self, generation_id: int) -> bool:
        return self._member is not None and self._member.has_moved_on(generation_id)

    def leave(self, deadline: Deadline) -> None:
        """Give everything up, calling back, and leave the group."""
        if self._member is None:
            return
        try:
            self._give_up(NOTHING, is_lost=False)
        finally:
            self._member.leave(deadline)

    def wait_until_ended(self, timeout_s: float) -> None:
        if self._member is not None:
            self._member.wait_until_ended(timeout_s)

    def _become(self, change: Change, member: GroupMember) -> None:
        self._is_changing = True
        try:
            self._give_up(change.target, is_lost=change.is_lost)
            taken = [
                topic_partition for topic_partition in sorted(change.target) if topic_partition not in self._assignment
            ]
            self._assignment.become(sorted(change.target))
            self._announce([*self._unannounced, *taken])
        finally:
            self._is_changing = False
            member.settled(change, frozenset(self._assignment.partitions))

    def _announce(self, partitions: list[TopicPartition]) -> None:
        self._unannounced = [topic_partition for topic_partition in partitions if topic_partition in self._assignment]
        was_changing, self._is_changing = self._is_changing, True
        try:
            if self._unannounced and self.callbacks.on_assigned is not None:
                self.callbacks.on_assigned(self._unannounced)
        finally:
            self._is_changing = was_changing
        self._unannounced = []

    def _give_up(self, target: frozenset[TopicPartition], *, is_lost: bool) -> None:
        given_up = sorted(
            topic_partition for topic_partition in self._assignment.partitions if topic_partition not in target
        )
        if not given_up:
            return
        on_lost = self.callbacks.on_lost or self.callbacks.on_revoked
        call_back = on_lost if is_lost else self.callbacks.on_revoked
        try:
            if not is_lost:
                self._before_revocation()
            if call_back is not None:
                call_back(given_up)
        finally:
            self._assignment.become(
                topic_partition for topic_partition in self._assignment.partitions if topic_partition in target
            )

    def _start(self, member_class: type[GroupMember]) -> GroupMember:
        member = member_class(self._cluster, self._settings, self.topics, wake=self._wake)
        member.start()
        return member

    def _member_class(self) -> type[GroupMember]:
        protocol = self._settings.group_protocol
        if protocol == "auto":
            limit = Deadline(self._settings.request_timeout_ms / 1000)
            self._cluster.coordinator(CoordinatorType.GROUP, self._settings.group_id, limit)
            has_consumer_protocol = self._cluster.feature_level(GROUP_VERSION) >= 1
            is_classic_asked = bool(self._settings.partition_assignment_strategy)
            protocol = "consumer" if has_consumer_protocol and not is_classic_asked else "classic"
        return ClassicMember if protocol == "classic" else ConsumerProtocolMember

    def _may_fall_back(self, problem: ClientError) -> bool:
        return (
            self._settings.group_protocol == "auto"
            and isinstance(self._member, ConsumerProtocolMember)
            and not self._has_joined
            and problem.error_code in NOT_A_CONSUMER_GROUP
        )
