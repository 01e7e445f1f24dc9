"""The group coordinator's answers as wire messages. Both sides name their fields alike, so this is only a change of
class."""

from collections.abc import Callable
from typing import Any

from fencepost.groups import replies
from fencepost.wire.message import Message
from fencepost.wire.messages import consumer_group_heartbeat, join_group, leave_group, sync_group
from fencepost.wire.messages.heartbeat import HeartbeatResponse

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
