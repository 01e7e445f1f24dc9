"""LeaveGroup (classic protocol), all versions: several members at once, and static members by instance id alone."""

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.classic_turn import (
    ClassicTurn,
    complete_join_if_all_joined,
    prepare_rebalance,
    remove_member,
)
from fencepost.groups.decision import Decision, Now, answer
from fencepost.groups.member import Token
from fencepost.groups.replies import LeaveGroupMember, LeaveGroupReply
from fencepost.groups.requests import NO_MEMBER_ID, LeaveGroup, MemberIdentity
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState


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
