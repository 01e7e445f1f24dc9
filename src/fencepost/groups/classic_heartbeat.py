"""Heartbeat (classic protocol), all versions: renews the session, and tells the member when to join again."""

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.classic_turn import ClassicTurn
from fencepost.groups.decision import Decision, Now, answer
from fencepost.groups.member import Token
from fencepost.groups.replies import HeartbeatReply
from fencepost.groups.requests import Heartbeat
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState


def decide_heartbeat(state: GroupsState, request: Heartbeat, *, token: Token, now: Now) -> Decision:
    group = state.find(request.group_id)
    error_code = _refusal(group, request)
    if error_code is not None or not isinstance(group, ClassicGroup):
        return answer(request.group_id, token, HeartbeatReply(error_code or ErrorCode.UNKNOWN_MEMBER_ID))
    turn = ClassicTurn(group, now=now, settings=state.settings)
    turn.renew_session(request.member_id)
    is_rebalancing = group.state is ClassicGroupState.PREPARING_REBALANCE
    turn.answer(token, HeartbeatReply(ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE))
    return turn.decision()


def _refusal(group: object, request: Heartbeat) -> ErrorCode | None:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    if not isinstance(group, ClassicGroup) or group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error_code = group.refusal_of_member(request.member_id, request.group_instance_id)
    if error_code is None and request.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return error_code
