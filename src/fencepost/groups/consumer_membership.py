"""Who a heartbeat of a KIP-848 group comes from, and whether it may speak.

Epochs fence: a member with another epoch than the coordinator's must give everything up and join again, unless it
repeats the epoch before, because the answer with the new one was lost.
"""

from dataclasses import replace

from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.assignors import ASSIGNORS, is_regex_legal
from fencepost.groups.consumer_group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerMember,
    TopicIdPartition,
)
from fencepost.groups.states import MemberState
from fencepost.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

SINCE_CLIENTS_MAKE_MEMBER_IDS = 1


def check_request(request: ConsumerGroupHeartbeatRequest, api_version: int) -> Refusal | None:
    """What is wrong with the request by itself."""
    invalid = _invalid(request, api_version)
    if invalid is not None:
        return Refusal(ErrorCode.INVALID_REQUEST, invalid)
    if request.server_assignor is not None and request.server_assignor not in ASSIGNORS:
        known = ", ".join(ASSIGNORS)
        message = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {known}."
        return Refusal(ErrorCode.UNSUPPORTED_ASSIGNOR, message)
    if request.subscribed_topic_regex and not is_regex_legal(request.subscribed_topic_regex):
        message = f"SubscribedTopicRegex {request.subscribed_topic_regex[:200]!r} is not a valid regular expression."
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, message)
    return None


def _invalid(request: ConsumerGroupHeartbeatRequest, api_version: int) -> str | None:
    for name, value in (
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if value == "":
            return f"{name} can't be empty."
    if request.member_epoch < STATIC_LEAVE_EPOCH:
        return f"MemberEpoch {request.member_epoch} is invalid."
    is_id_given_by_us = request.member_epoch == JOIN_EPOCH and api_version < SINCE_CLIENTS_MAKE_MEMBER_IDS
    if not request.member_id and not is_id_given_by_us:
        return "MemberId can't be empty."
    if request.member_epoch == STATIC_LEAVE_EPOCH and request.instance_id is None:
        return "InstanceId can't be null."
    return _invalid_join(request) if request.member_epoch == JOIN_EPOCH else None


def _invalid_join(request: ConsumerGroupHeartbeatRequest) -> str | None:
    if request.rebalance_timeout_ms == -1:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.topic_partitions is None or request.topic_partitions:
        return "TopicPartitions must be empty when (re-)joining."
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        return "SubscribedTopicNames or SubscribedTopicRegex must be set in first request."
    return None


def reported_partitions(request: ConsumerGroupHeartbeatRequest) -> frozenset[TopicIdPartition] | None:
    """What the member says it owns; None if it does not say."""
    if request.topic_partitions is None:
        return None
    return frozenset(
        TopicIdPartition(topic.topic_id, id_) for topic in request.topic_partitions for id_ in topic.partitions
    )


def find_known(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember | Refusal:
    """The member that stays or leaves."""
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            message = f"Member {request.member_id} is not a member of group {group.group_id}."
            return Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
    else:
        member = group.static_member(request.instance_id)
        if member is None:
            return Refusal(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {request.instance_id} is unknown.")
        if member.member_id != request.member_id:
            message = (
                f"Static member {request.member_id} with instance id {request.instance_id} was fenced by member "
                f"{member.member_id}."
            )
            return Refusal(ErrorCode.FENCED_INSTANCE_ID, message)
    if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
        return member
    return _fenced(member, request) or member


def find_joining(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember | Refusal:
    """A new member, one that joins again, or a static member whose place is taken over under a new id."""
    if request.instance_id is None:
        # A member that was fenced comes back this way, owning nothing, whatever epoch is known here (KAFKA-19233).
        return group.members.get(request.member_id) or ConsumerMember(member_id=request.member_id)
    owner = group.static_member(request.instance_id)
    if owner is None:
        return ConsumerMember(member_id=request.member_id, instance_id=request.instance_id)
    if owner.member_epoch != STATIC_LEAVE_EPOCH:
        message = (
            f"Static member {request.member_id} with instance id {request.instance_id} cannot join the group because "
            f"the instance id is owned by {owner.member_id} member."
        )
        return Refusal(ErrorCode.UNRELEASED_INSTANCE_ID, message)
    return replace(
        owner, member_id=request.member_id, member_epoch=0, previous_member_epoch=0, state=MemberState.STABLE
    )


def _fenced(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> Refusal | None:
    if request.member_epoch == member.member_epoch:
        return None
    reported = reported_partitions(request)
    is_repeat = request.member_epoch == member.previous_member_epoch and request.member_epoch < member.member_epoch
    if is_repeat and reported is not None and reported <= member.assigned.keys():
        return None
    relation = "greater" if request.member_epoch > member.member_epoch else "smaller"
    message = (
        f"The consumer group member has a {relation} member epoch ({request.member_epoch}) than the one known by the "
        f"group coordinator ({member.member_epoch}). The member must abandon all its partitions and rejoin."
    )
    return Refusal(ErrorCode.FENCED_MEMBER_EPOCH, message)
