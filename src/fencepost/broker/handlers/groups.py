"""JoinGroup (11), versions 0 to 9: become a member, and wait for the others. See `groups/classic_join.py`."""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.handlers.metadata import GROUP_OPERATIONS, NOT_ASKED
from fencepost.errors import ErrorCode
from fencepost.groups import listing, replies
from fencepost.groups.classic_join import decide_join
from fencepost.groups.classic_membership import decide_heartbeat, decide_leave, decide_sync
from fencepost.groups.consumer_heartbeat import decide_consumer_heartbeat
from fencepost.groups.deletion import decide_delete_group
from fencepost.groups.listing import describe_consumer_group, describe_group
from fencepost.groups.replies import DeletedGroup
from fencepost.groups.requests import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    MemberIdentity,
    OwnedPartitions,
    Protocol,
    SyncGroup,
    SyncGroupAssignment,
)
from fencepost.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    Member,
    TopicPartitions,
)
from fencepost.wire.messages.consumer_group_describe import DescribedGroup as DescribedConsumerGroup
from fencepost.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from fencepost.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from fencepost.wire.messages.heartbeat import HeartbeatRequest
from fencepost.wire.messages.join_group import JoinGroupRequest
from fencepost.wire.messages.leave_group import LeaveGroupRequest
from fencepost.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from fencepost.wire.messages.sync_group import SyncGroupRequest


def join_group(core: BrokerCore, call: Call) -> Outcome:
    request: JoinGroupRequest = call.request
    join = JoinGroup(
        group_id=request.group_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=tuple(Protocol(protocol.name, bytes(protocol.metadata)) for protocol in request.protocols),
        client_id=call.client_id,
        client_host=call.peer.host,
        api_version=call.api_version,
    )
    return core.groups.answer(call, decide_join(core.state.groups, join, token=call, now=call.now))


# SyncGroup (14), versions 0 to 5: the leader hands in the assignment, every member gets its part.


def sync_group(core: BrokerCore, call: Call) -> Outcome:
    request: SyncGroupRequest = call.request
    sync = SyncGroup(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments=tuple(SyncGroupAssignment(part.member_id, bytes(part.assignment)) for part in request.assignments),
        api_version=call.api_version,
    )
    return core.groups.answer(call, decide_sync(core.state.groups, sync, token=call, now=call.now))


# Heartbeat (12), versions 0 to 4: a member is alive, and learns whether a rebalance has begun.
#
# The answer shows nothing that is stored, so it does not wait for the disk: a slow disk must not cost a member its
# session.


def heartbeat(core: BrokerCore, call: Call) -> Outcome:
    request: HeartbeatRequest = call.request
    heartbeat = Heartbeat(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
    )
    outcome = core.groups.answer(call, decide_heartbeat(core.state.groups, heartbeat, token=call, now=call.now))
    return Reply(outcome.message) if isinstance(outcome, Reply) else outcome


# LeaveGroup (13), versions 0 to 5: members go. Up to v2 one member, from v3 several, static ones by instance id.


SEVERAL_MEMBERS_SINCE_VERSION = 3


def leave_group(core: BrokerCore, call: Call) -> Outcome:
    request: LeaveGroupRequest = call.request
    if call.api_version >= SEVERAL_MEMBERS_SINCE_VERSION:
        members = tuple(MemberIdentity(member.member_id, member.group_instance_id) for member in request.members)
    else:
        members = (MemberIdentity(request.member_id),)
    leave = LeaveGroup(group_id=request.group_id, members=members)
    return core.groups.answer(call, decide_leave(core.state.groups, leave, token=call, now=call.now))


# ConsumerGroupHeartbeat (68), versions 0 and 1: a member of a KIP-848 group joins, stays or leaves, and is told its
# partitions. v1 subscriptions by regular expression, and the client makes its member id. See
# `groups/consumer_heartbeat.py`.


def consumer_group_heartbeat(core: BrokerCore, call: Call) -> Outcome:
    request: ConsumerGroupHeartbeatRequest = call.request
    names, owned = request.subscribed_topic_names, request.topic_partitions
    heartbeat = ConsumerGroupHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=request.subscribed_topic_regex,
        server_assignor=request.server_assignor,
        topic_partitions=None
        if owned is None
        else tuple(OwnedPartitions(topic.topic_id, tuple(topic.partitions)) for topic in owned),
        client_id=call.client_id,
        client_host=call.peer.host,
        api_version=call.api_version,
    )
    decision = decide_consumer_heartbeat(
        core.state.groups, heartbeat, topics=core.groups.topic_image(), token=call, now=call.now
    )
    return core.groups.answer(call, decision)


# ConsumerGroupDescribe (69), versions 0 and 1: KIP-848 groups with their members and assignments. v1 member types.
#
# Classic groups are DescribeGroups' to show: here they are not found.


def consumer_group_describe(core: BrokerCore, call: Call) -> Outcome:
    request: ConsumerGroupDescribeRequest = call.request
    operations = GROUP_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    groups = [_describe(core, group_id, operations) for group_id in request.group_ids]
    return core.reply(ConsumerGroupDescribeResponse(groups=groups))


def _describe(core: BrokerCore, group_id: str, operations: int) -> DescribedConsumerGroup:
    if not group_id:
        return DescribedConsumerGroup(error_code=ErrorCode.INVALID_GROUP_ID)
    return _consumer_to_wire(describe_consumer_group(core.state.groups, group_id), operations)


def _consumer_to_wire(group: replies.ConsumerGroupDescribedGroup, operations: int) -> DescribedConsumerGroup:
    return DescribedConsumerGroup(
        error_code=group.error_code,
        error_message=group.error_message,
        group_id=group.group_id,
        group_state=group.group_state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor_name,
        members=[_member(member) for member in group.members],
        authorized_operations=NOT_ASKED if group.error_code else operations,
    )


def _member(member: replies.ConsumerGroupDescribedMember) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(member.assignment),
        target_assignment=_assignment(member.target_assignment),
        member_type=member.member_type,
    )


def _assignment(assignment: replies.Assignment) -> Assignment:
    return Assignment(
        [
            TopicPartitions(topic.topic_id, topic.topic_name, list(topic.partitions))
            for topic in assignment.topic_partitions
        ]
    )


# DescribeGroups (15), versions 0 to 6: classic groups with their members. v3 authorized operations; from v6 an unknown
# group is an error.
#
# Differences from Kafka: a member's host is written without Java's leading slash.


def describe_groups(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeGroupsRequest = call.request
    operations = GROUP_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    groups = [describe_group(core.state.groups, group_id, api_version=call.api_version) for group_id in request.groups]
    return core.reply(DescribeGroupsResponse(groups=[_classic_to_wire(group, operations) for group in groups]))


def _classic_to_wire(group: replies.DescribedGroup, operations: int) -> DescribedGroup:
    return DescribedGroup(
        error_code=group.error_code,
        error_message=group.error_message,
        group_id=group.group_id,
        group_state=group.group_state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_data,
        members=[DescribedGroupMember(*member) for member in group.members],
        authorized_operations=NOT_ASKED if group.error_code else operations,
    )


# ListGroups (16), versions 0 to 5: v4 filters by state, v5 by type.


def list_groups(core: BrokerCore, call: Call) -> Outcome:
    request: ListGroupsRequest = call.request
    found = listing.list_groups(
        core.state.groups, states_filter=request.states_filter, types_filter=request.types_filter
    )
    groups = [
        ListedGroup(group.group_id, group.protocol_type, group.group_state, group.group_type.lower()) for group in found
    ]
    return core.reply(ListGroupsResponse(groups=groups))


# DeleteGroups (42), versions 0 to 2: empty groups go, with their offsets. A name that comes twice is deleted once.


def delete_groups(core: BrokerCore, call: Call) -> Outcome:
    request: DeleteGroupsRequest = call.request
    results = [_delete(core, call, group_id) for group_id in dict.fromkeys(request.groups_names)]
    return core.reply(DeleteGroupsResponse(results=results))


def _delete(core: BrokerCore, call: Call, group_id: str) -> DeletableGroupResult:
    decision = decide_delete_group(core.state.groups, group_id, token=call)
    core.groups.run(decision, now=call.now, asked_by=call)
    reply = decision.reply_to(call)
    assert isinstance(reply, DeletedGroup)
    return DeletableGroupResult(group_id, reply.error_code)
