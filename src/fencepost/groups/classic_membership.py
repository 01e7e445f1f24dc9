"""SyncGroup (classic protocol), all versions.

Followers wait for the leader's assignment. When it comes, the generation is persisted and everybody is answered;
from then on members survive a restart of the broker with their generation.
"""

from dataclasses import replace

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup, Token
from fencepost.groups.classic_turn import (
    ClassicTurn,
    complete_join_if_all_joined,
    prepare_rebalance,
    propagate_assignment,
    remove_member,
)
from fencepost.groups.decision import Decision, answer
from fencepost.groups.replies import HeartbeatReply, LeaveGroupMember, LeaveGroupReply, SyncGroupReply
from fencepost.groups.requests import NO_MEMBER_ID, Heartbeat, LeaveGroup, MemberIdentity, SyncGroup
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.types import Now

SINCE_PROTOCOL_IS_MANDATORY = 5


def decide_sync(state: GroupsState, request: SyncGroup, *, token: Token, now: Now) -> Decision:
    group = state.find(request.group_id)
    if not isinstance(group, ClassicGroup) or group.is_empty:
        error_code = ErrorCode.UNKNOWN_MEMBER_ID if request.group_id else ErrorCode.INVALID_GROUP_ID
        return answer(request.group_id, token, SyncGroupReply(error_code=error_code))
    refusal = _sync_refusal(group, request)
    if refusal is not None:
        return answer(request.group_id, token, SyncGroupReply(error_code=refusal))

    turn = ClassicTurn(group, now=now, settings=state.settings)
    _receive(turn, request, token)
    if turn.group.state is ClassicGroupState.STABLE:
        propagate_assignment(turn)
    elif group.leader == request.member_id:
        _take_assignment(turn, request)
    return turn.decision()


def _sync_refusal(group: ClassicGroup, request: SyncGroup) -> ErrorCode | None:
    if request.api_version >= SINCE_PROTOCOL_IS_MANDATORY and None in (request.protocol_type, request.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    error_code = group.refusal_of_member(request.member_id, request.group_instance_id)
    if error_code is not None:
        return error_code
    if request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    if request.protocol_type not in (None, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.protocol_name is not None and request.protocol_name not in (None, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None


def _receive(turn: ClassicTurn, request: SyncGroup, token: Token) -> None:
    # A second sync of one member supersedes the first, whose connection must not wait forever.
    turn.answer_sync(request.member_id, SyncGroupReply(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
    turn.put(replace(turn.group.members[request.member_id], sync_token=token))
    pending = turn.group.pending_sync_members - {request.member_id}
    turn.change(pending_sync_members=pending, sync_deadline_ms=turn.group.sync_deadline_ms if pending else None)


def _take_assignment(turn: ClassicTurn, request: SyncGroup) -> None:
    """A member that the leader forgot gets an empty assignment."""
    assignments = dict(request.assignments)
    for member in tuple(turn.group.members.values()):
        turn.put(replace(member, assignment=assignments.get(member.member_id, b"")))
    turn.move_to(ClassicGroupState.STABLE)
    turn.persist()
    propagate_assignment(turn)


# Heartbeat (classic protocol), all versions: renews the session, and tells the member when to join again.


def decide_heartbeat(state: GroupsState, request: Heartbeat, *, token: Token, now: Now) -> Decision:
    group = state.find(request.group_id)
    error_code = _heartbeat_refusal(group, request)
    if error_code is not None or not isinstance(group, ClassicGroup):
        return answer(request.group_id, token, HeartbeatReply(error_code or ErrorCode.UNKNOWN_MEMBER_ID))
    turn = ClassicTurn(group, now=now, settings=state.settings)
    turn.renew_session(request.member_id)
    is_rebalancing = group.state is ClassicGroupState.PREPARING_REBALANCE
    turn.answer(token, HeartbeatReply(ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE))
    return turn.decision()


def _heartbeat_refusal(group: object, request: Heartbeat) -> ErrorCode | None:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if not isinstance(group, ClassicGroup) or group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error_code = group.refusal_of_member(request.member_id, request.group_instance_id)
    if error_code is None and request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return error_code


# LeaveGroup (classic protocol), all versions: several members at once, and static members by instance id alone.


def decide_leave(state: GroupsState, request: LeaveGroup, *, token: Token, now: Now) -> Decision:
    if not request.group_id:
        return answer(request.group_id, token, LeaveGroupReply(error_code=ErrorCode.INVALID_GROUP_ID))
    group = state.find(request.group_id)
    if not isinstance(group, ClassicGroup):
        unknown = tuple(LeaveGroupMember(*member, ErrorCode.UNKNOWN_MEMBER_ID) for member in request.members)
        return answer(request.group_id, token, LeaveGroupReply(members=unknown))

    turn = ClassicTurn(group, now=now, settings=state.settings)
    members = tuple(LeaveGroupMember(*member, _leave(turn, member)) for member in request.members)
    turn.answer(token, LeaveGroupReply(members=members))
    if any(member.error_code is ErrorCode.NONE for member in members):
        _rebalance(turn)
    return turn.decision()


def _leave(turn: ClassicTurn, identity: MemberIdentity) -> ErrorCode:
    group, (member_id, group_instance_id) = turn.group, identity
    if member_id in group.pending_members:
        turn.remove(member_id)
        return ErrorCode.NONE
    if member_id == NO_MEMBER_ID:
        # An administrator removes a static member without knowing its id.
        owner_id = group.static_member_id(group_instance_id) if group_instance_id is not None else None
        if owner_id is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = owner_id
    error_code = group.refusal_of_member(member_id, group_instance_id)
    if error_code is None:
        remove_member(turn, member_id)
    return error_code or ErrorCode.NONE


def _rebalance(turn: ClassicTurn) -> None:
    if turn.group.state is ClassicGroupState.PREPARING_REBALANCE:
        complete_join_if_all_joined(turn)
    elif not turn.group.is_empty:
        prepare_rebalance(turn)
