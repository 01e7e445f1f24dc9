"""SyncGroup, Heartbeat and LeaveGroup (classic protocol), all versions.

Followers wait for the leader's assignment. When it comes, the generation is persisted and every sync is answered;
from then on members survive a restart of the broker with their generation. A heartbeat renews the session, and
answers when the member has to join again. Several members may leave at once, static ones by instance id alone.
"""

from dataclasses import replace

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import NO_MEMBER_ID, ClassicGroup
from fencepost.groups.classic_turn import (
    ClassicTurn,
    prepare_rebalance_or_complete_join,
    propagate_assignment,
    remove_member,
)
from fencepost.groups.decision import Call, Decision, answer
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
from fencepost.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

SYNC_SINCE_PROTOCOL_IS_MANDATORY = 5
LEAVE_SINCE_SEVERAL_MEMBERS = 3


def _find_group(state: GroupsState, group_id: str) -> ClassicGroup | ErrorCode:
    """A group with members, or why this request cannot come from one of them."""
    group = state.classic.get(group_id)
    if group is None or group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID
    return group


def decide_sync(state: GroupsState, call: Call) -> Decision:
    request: SyncGroupRequest = call.request
    group = _find_group(state, request.group_id)
    if isinstance(group, ErrorCode):
        return answer(call, SyncGroupResponse(error_code=group))
    error_code = _refusal_of_sync(group, request, call.api_version)
    if error_code is not None:
        return answer(call, SyncGroupResponse(error_code=error_code))
    turn = ClassicTurn(group, now=call.now, settings=state.settings)
    _receive(turn, request, call)
    if turn.group.state is ClassicGroupState.STABLE:
        propagate_assignment(turn)
    elif group.leader == request.member_id:
        _take_assignment(turn, request)
    return turn.decision()


def _refusal_of_sync(group: ClassicGroup, request: SyncGroupRequest, api_version: int) -> ErrorCode | None:
    if api_version >= SYNC_SINCE_PROTOCOL_IS_MANDATORY and None in (request.protocol_type, request.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    error_code = group.refusal_of_member(request.member_id, request.group_instance_id, request.generation_id)
    if error_code is not None:
        return error_code
    if request.protocol_type not in (None, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.protocol_name is not None and request.protocol_name not in (None, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None


def _receive(turn: ClassicTurn, request: SyncGroupRequest, call: Call) -> None:
    # A second sync of one member supersedes the first, whose connection must not wait forever.
    turn.answer_sync(request.member_id, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
    turn.put(replace(turn.group.members[request.member_id], sync_call=call))
    pending = turn.group.pending_sync_members - {request.member_id}
    turn.change(pending_sync_members=pending, sync_deadline_ms=turn.group.sync_deadline_ms if pending else None)


def _take_assignment(turn: ClassicTurn, request: SyncGroupRequest) -> None:
    """A member that the leader forgot gets an empty assignment."""
    assignments = {part.member_id: part.assignment for part in request.assignments}
    for member in tuple(turn.group.members.values()):
        turn.put(replace(member, assignment=assignments.get(member.member_id, b"")))
    turn.move_to(ClassicGroupState.STABLE)
    turn.persist()
    propagate_assignment(turn)


def decide_heartbeat(state: GroupsState, call: Call) -> Decision:
    request: HeartbeatRequest = call.request
    group = _find_group(state, request.group_id)
    if isinstance(group, ErrorCode):
        return answer(call, HeartbeatResponse(error_code=group))
    error_code = group.refusal_of_member(request.member_id, request.group_instance_id, request.generation_id)
    if error_code is not None:
        return answer(call, HeartbeatResponse(error_code=error_code))
    turn = ClassicTurn(group, now=call.now, settings=state.settings)
    turn.renew_session(request.member_id)
    is_rebalancing = group.state is ClassicGroupState.PREPARING_REBALANCE
    error_code = ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE
    turn.answer(call, HeartbeatResponse(error_code=error_code))
    return turn.decision()


def decide_leave(state: GroupsState, call: Call) -> Decision:
    """Up to version 2 a request names one member, whose error is that of the answer."""
    request: LeaveGroupRequest = call.request
    if not request.group_id:
        return answer(call, LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
    is_of_one = call.api_version < LEAVE_SINCE_SEVERAL_MEMBERS
    identities = [MemberIdentity(request.member_id)] if is_of_one else request.members
    group = state.classic.get(request.group_id)
    turn = ClassicTurn(group or ClassicGroup(group_id=request.group_id), now=call.now, settings=state.settings)
    members = [MemberResponse(each.member_id, each.group_instance_id, _leave(turn, each)) for each in identities]
    response = LeaveGroupResponse(error_code=members[0].error_code if is_of_one else ErrorCode.NONE, members=members)
    if group is None:
        return answer(call, response)
    turn.answer(call, response)
    if not turn.group.is_empty and any(member.error_code == ErrorCode.NONE for member in members):
        prepare_rebalance_or_complete_join(turn)
    return turn.decision()


def _leave(turn: ClassicTurn, identity: MemberIdentity) -> ErrorCode:
    group, member_id, group_instance_id = turn.group, identity.member_id, identity.group_instance_id
    if member_id in group.pending_members:
        turn.remove(member_id)
        return ErrorCode.NONE
    if member_id == NO_MEMBER_ID and group_instance_id is not None:
        # An administrator removes a static member without knowing its id.
        member_id = group.static_member_id(group_instance_id) or NO_MEMBER_ID
    error_code = group.refusal_of_member(member_id, group_instance_id)
    if error_code is None:
        remove_member(turn, member_id)
    return error_code or ErrorCode.NONE
