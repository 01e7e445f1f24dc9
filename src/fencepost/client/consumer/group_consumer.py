"""Membership by KIP-848: one request, ConsumerGroupHeartbeat; the coordinator shares out partitions, step by step.

The member says what changed on its side and is answered with its assignment. It gives up what is not in it, takes what
is new, and says with its next heartbeat what it owns; only then does the coordinator hand on what was given up. An
epoch counts the steps, and a member with an epoch that the coordinator does not know is fenced: it gives everything up
and joins again under the same id.
"""

import logging
import threading
import time
import uuid
from uuid import UUID

from fencepost.client.consumer.group_member import NOTHING, Change, GroupMember, Partitions
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import ClientError, RetriableBrokerError
from fencepost.client.time_limits import Deadline
from fencepost.client.values import NO_GENERATION, by_topic
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

logger = logging.getLogger("fencepost.client")

JOINING = 0
LEAVING = -1
LEAVING_STATIC = -2
"""The coordinator keeps the place for the instance id until the session ends."""
FENCED = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})


class ConsumerProtocolMember(GroupMember):
    _is_out = False
    """Fenced or silent: everything has to be given up before joining again."""
    _told_topics: list[str] | None = None
    _told_owned: Partitions | None = None
    _assigned: tuple[tuple[UUID, int], ...] | None = None
    """The coordinator's last word, by topic id."""
    _refused_since_s: float | None = None

    def start(self) -> None:
        self._calling = threading.Lock()
        self._member_id = str(uuid.uuid4())
        super().start()

    def _step(self) -> None:
        if self._is_out:
            self._wait(1.0, lambda: self._is_closing or self._change is None)
            self._is_out = self._change is not None
            return
        self._wait(self._beat_at_s - time.monotonic(), lambda: self._is_closing or self._has_something_to_say)
        if self._is_closing:
            return
        if self._is_silent:
            logger.warning("group '%s': no poll for max.poll.interval.ms; leaving", self._settings.group_id)
            self._say_goodbye(self._deadline)
            self._lose()
            return
        self._beat()
        self._follow()

    @property
    def _has_something_to_say(self) -> bool:
        if self._generation_id <= JOINING:
            return False
        return self._told_topics != self._topics or (self._change is None and self._told_owned != self._owned)

    def _beat(self) -> None:
        with self._calling:
            if self._is_closing:
                return
            request, topics, owned = self._heartbeat()
            response = self._call(request, ConsumerGroupHeartbeatResponse)
        if response.error_code in FENCED:
            logger.info("group '%s': fenced: %s", self._settings.group_id, response.error_message)
            self._lose()
            return
        if response.error_code:
            raise self._refusal(response)
        with self._news:
            self._refused_since_s = None
            self._told_topics, self._told_owned = topics, owned
            self._member_id = response.member_id or self._member_id
            self._generation_id = response.member_epoch
            self._beat_at_s = time.monotonic() + response.heartbeat_interval_ms / 1000
            if response.assignment is not None:
                self._assigned = tuple(
                    (topic.topic_id, index)
                    for topic in response.assignment.topic_partitions
                    for index in topic.partitions
                )

    def _heartbeat(self) -> tuple[ConsumerGroupHeartbeatRequest, list[str], Partitions | None]:
        """The request, and what the coordinator knows of us once it has it."""
        with self._news:
            is_joining = self._generation_id <= JOINING
            topics = list(self._topics)
            owned = NOTHING if is_joining else self._owned if self._change is None else self._told_owned
            request = ConsumerGroupHeartbeatRequest(
                group_id=self._settings.group_id,
                member_id=self._member_id,
                member_epoch=JOINING if is_joining else self._generation_id,
                instance_id=self._instance_id,
                topic_partitions=None,
            )
            if is_joining:
                request.rebalance_timeout_ms = self._settings.max_poll_interval_ms
                request.server_assignor = self._settings.group_remote_assignor or None
            if is_joining or topics != self._told_topics:
                request.subscribed_topic_names = topics
            if owned is not None and (is_joining or owned != self._told_owned):
                request.topic_partitions = self._by_topic_id(owned)
            return request, topics, owned

    def _follow(self) -> None:
        """Offer what the coordinator assigned, as far as its topics are known here."""
        if self._assigned is None or self._is_out:
            return
        names = self._cluster.metadata.topic_names()
        if any(topic_id not in names for topic_id, _ in self._assigned):
            self._cluster.refresh(self._topics)
            names = self._cluster.metadata.topic_names()
        target = frozenset(
            TopicPartition(names[topic_id], index) for topic_id, index in self._assigned if topic_id in names
        )
        wanted = self._change.target if self._change is not None else self._owned
        if target != wanted:
            self._offer(Change(target))

    def _lose(self) -> None:
        with self._news:
            self._generation_id = NO_GENERATION
            self._assigned = self._told_topics = self._told_owned = None
            self._beat_at_s = 0.0
            self._is_out = True
        self._offer(Change(NOTHING, is_lost=True))

    def _refusal(self, response: ConsumerGroupHeartbeatResponse) -> ClientError:
        """A static member that was killed is waited for until its session ends, so that its successor can start."""
        instance = "" if self._instance_id is None else f", instance '{self._instance_id}'"
        what, explanation = f"group '{self._settings.group_id}'{instance}", response.error_message
        error = error_of(response.error_code, "ConsumerGroupHeartbeat", what=what, explanation=explanation)
        if response.error_code != ErrorCode.UNRELEASED_INSTANCE_ID:
            return error
        now_s = time.monotonic()
        self._refused_since_s = self._refused_since_s or now_s
        if now_s - self._refused_since_s > self._settings.default_api_timeout_ms / 1000:
            return error
        return RetriableBrokerError(str(error), error_code=error.error_code)

    def _say_goodbye(self, deadline: Deadline) -> None:
        # The member's thread may be in a call that is not answered: then the session ends by itself.
        if not self._calling.acquire(timeout=deadline.at_most(threading.TIMEOUT_MAX)):
            return
        try:
            if self._generation_id < 0:
                return
            request = ConsumerGroupHeartbeatRequest(
                group_id=self._settings.group_id,
                member_id=self._member_id,
                member_epoch=LEAVING_STATIC if self._instance_id is not None and self._is_closing else LEAVING,
                instance_id=self._instance_id,
                topic_partitions=None,
            )
            self._call(request, ConsumerGroupHeartbeatResponse, deadline)
        finally:
            self._calling.release()

    def _by_topic_id(self, partitions: Partitions) -> list[TopicPartitions]:
        topics = by_topic(sorted(partitions))
        return [TopicPartitions(self._cluster.metadata.topic_id(topic), indexes) for topic, indexes in topics.items()]
