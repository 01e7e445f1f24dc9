"""The group coordinator's hands: its decisions become records of `__consumer_offsets`, and replies.

The rules are in `groups/`. A decision may answer requests that were parked earlier, of other members and other APIs;
each reply leaves when everything decided so far is synced.
"""

import logging
from typing import TYPE_CHECKING, cast

from fencepost.broker.call import PARKED, Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS, OFFSETS_TOPIC
from fencepost.broker.partition_log import PartitionLog
from fencepost.groups.apply import apply_memory
from fencepost.groups.assignors import TopicImage
from fencepost.groups.consumer_group import TopicMetadata
from fencepost.groups.decision import Decision
from fencepost.groups.timers import decide_timers
from fencepost.java_hash import partition_for
from fencepost.journal.disk import DiskFull
from fencepost.records.record import Record
from fencepost.types import Now, TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages.join_group import JoinGroupResponse

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

logger = logging.getLogger("fencepost.groups")

PUT_OFF_MS = 1000
JOIN_SINCE_NULL_PROTOCOL_NAME = 7


class GroupCoordinator:
    def __init__(self, core: "BrokerCore") -> None:
        self._core = core
        self._topic_image = TopicImage(version=-1, topics={})

    def topic_image(self) -> TopicImage:
        """All topics as KIP-848 groups see them. Their version is how far the catalogue has got."""
        state = self._core.state
        version = state.catalogue_log.state.end_offset
        if self._topic_image.version != version:
            topics = {
                name: TopicMetadata(topic.topic_id, len(topic.partition_refs))
                for name, topic in state.catalogue.topics.items()
            }
            self._topic_image = TopicImage(version, topics, INTERNAL_TOPICS)
        return self._topic_image

    def log_of(self, group_id: str) -> PartitionLog:
        """The partition of `__consumer_offsets` that the group lives on."""
        return self._core.state.logs[self.topic_partition_of(group_id)]

    def topic_partition_of(self, group_id: str) -> TopicPartition:
        count = len(self._core.state.catalogue.topics[OFFSETS_TOPIC].partition_refs)
        return TopicPartition(OFFSETS_TOPIC, partition_for(group_id, count))

    def answer(self, call: Call, decision: Decision) -> Outcome:
        """Carry out a decision about a member that may have to wait for others."""
        self.run(decision, now=call.now, asked_by=call)
        message = decision.reply_to(call)
        return PARKED if message is None else self._core.reply(_fit(message, call.api_version))

    def run(self, decision: Decision, *, now: Now, asked_by: Call | None = None) -> None:
        """Append and apply what was decided, and answer every request whose wait it ends, except `asked_by`."""
        if decision.records:
            self._core.writer.append_records(self.log_of(decision.group_id), to_records(decision, now))
        apply_memory(self._core.state.groups, decision)
        for parked, message in decision.replies:
            if parked is not asked_by:
                self._core.answer_later(cast(Call, parked), self._core.reply(_fit(message, parked.api_version)))

    def run_timers(self, now: Now) -> None:
        """What a full disk leaves no room for is put off: the group is looked at anew a little later."""
        for decision in decide_timers(self._core.state.groups, now=now):
            try:
                self.run(decision, now=now)
            except DiskFull as problem:
                logger.warning("group %s waits for %d ms: %s", decision.group_id, PUT_OFF_MS, problem)
                self._core.state.groups.wake_times.set(decision.group_id, now.monotonic_ms + PUT_OFF_MS)


def _fit(message: Message, api_version: int) -> Message:
    """Before version 7 of JoinGroup, a protocol's name may not be null."""
    is_older = api_version < JOIN_SINCE_NULL_PROTOCOL_NAME
    if is_older and isinstance(message, JoinGroupResponse) and message.protocol_name is None:
        message.protocol_name = ""
    return message


def to_records(decision: Decision, now: Now) -> list[Record]:
    return [record._replace(timestamp_ms=now.wall_ms) for record in decision.records]
