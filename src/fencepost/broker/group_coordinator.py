"""The group coordinator's hands: its decisions become records of `__consumer_offsets`, and replies.

The rules are in `groups/`. A decision may answer requests that were parked earlier, of other members and other APIs;
each reply leaves when everything decided so far is synced.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from fencepost.broker.call import PARKED, Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS, OFFSETS_TOPIC
from fencepost.broker.partition_log import PartitionLog
from fencepost.groups import replies
from fencepost.groups.apply import apply_memory
from fencepost.groups.assignors import TopicImage, remove_member
from fencepost.groups.classic_turn import decide_classic_timers
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerTimers, TopicMetadata
from fencepost.groups.consumer_records import records_between
from fencepost.groups.decision import Decision
from fencepost.groups.state import GroupsState
from fencepost.java_hash import partition_for
from fencepost.journal.disk import DiskFull
from fencepost.records.record import Record
from fencepost.types import Now, TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages import consumer_group_heartbeat, join_group, leave_group, sync_group
from fencepost.wire.messages.heartbeat import HeartbeatResponse

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore


# The group coordinator's answers as wire messages. Both sides name their fields alike, so this is only a change of
# class.


ONE_MEMBER_UP_TO_VERSION = 2


def to_response(message: object, api_version: int) -> Message:
    return _CONVERTERS[type(message)](message, api_version)


def _join_group(reply: replies.JoinGroupReply, api_version: int) -> Message:
    members = [
        join_group.JoinGroupResponseMember(member.member_id, member.group_instance_id, member.metadata)
        for member in reply.members
    ]
    return join_group.JoinGroupResponse(
        error_code=reply.error_code,
        generation_id=reply.generation_id,
        protocol_type=reply.protocol_type,
        # The name may be null from v7 on only.
        protocol_name=reply.protocol_name if api_version >= 7 else reply.protocol_name or "",
        leader=reply.leader,
        skip_assignment=reply.skip_assignment,
        member_id=reply.member_id,
        members=members,
    )


def _sync_group(reply: replies.SyncGroupReply, _api_version: int) -> Message:
    return sync_group.SyncGroupResponse(
        error_code=reply.error_code,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol_name,
        assignment=reply.assignment,
    )


def _heartbeat(reply: replies.HeartbeatReply, _api_version: int) -> Message:
    return HeartbeatResponse(error_code=reply.error_code)


def _leave_group(reply: replies.LeaveGroupReply, api_version: int) -> Message:
    """Up to v2 the one member's error is the answer's."""
    error_code = reply.error_code
    if api_version <= ONE_MEMBER_UP_TO_VERSION and not error_code and reply.members:
        error_code = reply.members[0].error_code
    members = [leave_group.MemberResponse(*member) for member in reply.members]
    return leave_group.LeaveGroupResponse(error_code=error_code, members=members)


def _consumer_group_heartbeat(reply: replies.ConsumerGroupHeartbeatReply, _api_version: int) -> Message:
    assignment = None
    if reply.assignment is not None:
        assignment = consumer_group_heartbeat.Assignment(
            [
                consumer_group_heartbeat.TopicPartitions(topic.topic_id, list(topic.partitions))
                for topic in reply.assignment.topic_partitions
            ]
        )
    return consumer_group_heartbeat.ConsumerGroupHeartbeatResponse(
        error_code=reply.error_code,
        error_message=reply.error_message,
        member_id=reply.member_id,
        member_epoch=reply.member_epoch,
        heartbeat_interval_ms=reply.heartbeat_interval_ms,
        assignment=assignment,
    )


_CONVERTERS: dict[type, Callable[[Any, int], Message]] = {
    replies.JoinGroupReply: _join_group,
    replies.SyncGroupReply: _sync_group,
    replies.HeartbeatReply: _heartbeat,
    replies.LeaveGroupReply: _leave_group,
    replies.ConsumerGroupHeartbeatReply: _consumer_group_heartbeat,
}


# What the clock does to groups: one decision for each group whose time has come.


def decide_timers(state: GroupsState, *, now: Now) -> list[Decision]:
    """Call when `state.wake_at_ms` has come; calling earlier or more often does no harm."""
    return [_decide(state, group_id, now) for group_id in state.wake_times.due(now.monotonic_ms)]


def _decide(state: GroupsState, group_id: str, now: Now) -> Decision:
    consumer_group = state.consumer.get(group_id)
    if consumer_group is not None:
        return _decide_consumer_timers(consumer_group, state.consumer_timers[group_id], now)
    return decide_classic_timers(state.classic[group_id], now=now, settings=state.settings)


def _decide_consumer_timers(before: ConsumerGroup, timers: ConsumerTimers, now: Now) -> Decision:
    """Members that are silent, or that do not revoke in time, are taken out."""
    group = before
    deadlines = (*timers.session_deadlines_ms.items(), *timers.rebalance_deadlines_ms.items())
    for member_id in dict.fromkeys(member_id for member_id, at in deadlines if at <= now.monotonic_ms):
        timers = timers.without(member_id)
        if member_id in group.members:
            group = remove_member(group, member_id)
    return Decision(before.group_id, records_between(before, group), memory=timers)


logger = logging.getLogger("fencepost.groups")

PUT_OFF_MS = 1000


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
        return PARKED if message is None else self._core.reply(to_response(message, call.api_version))

    def run(self, decision: Decision, *, now: Now, asked_by: Call | None = None) -> None:
        """Append and apply what was decided, and answer everybody whose wait it ends, except the one who asked."""
        if decision.records:
            self._core.writer.append_records(self.log_of(decision.group_id), to_records(decision, now))
        apply_memory(self._core.state.groups, decision)
        for token, message in decision.replies:
            if token is not asked_by:
                call = cast(Call, token)
                self._core.answer_later(call, self._core.reply(to_response(message, call.api_version)))

    def run_timers(self, now: Now) -> None:
        """What a full disk leaves no room for is put off: the group is looked at anew a little later."""
        for decision in decide_timers(self._core.state.groups, now=now):
            try:
                self.run(decision, now=now)
            except DiskFull as problem:
                logger.warning("group %s waits for %d ms: %s", decision.group_id, PUT_OFF_MS, problem)
                self._core.state.groups.wake_times.set(decision.group_id, now.monotonic_ms + PUT_OFF_MS)


def to_records(decision: Decision, now: Now) -> list[Record]:
    return [Record(timestamp_ms=now.wall_ms, key=key, value=value) for key, value in decision.records]
