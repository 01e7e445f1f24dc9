"""SyncGroup (classic protocol), all versions.

Followers wait for the leader's assignment. When it comes, the generation is persisted and everybody is answered;
from then on members survive a restart of the broker with their generation.
"""

from dataclasses import replace

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.classic_turn import ClassicTurn, propagate_assignment
from fencepost.groups.decision import Decision, Now, answer
from fencepost.groups.member import Token
from fencepost.groups.replies import SyncGroupReply
from fencepost.groups.requests import SyncGroup
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState

SINCE_PROTOCOL_IS_MANDATORY = 5


def decide_sync(state: GroupsState, request: SyncGroup, *, token: Token, now: Now) -> Decision:
    group = state.find(request.group_id)
    if not isinstance(group, ClassicGroup) or group.is_empty:
        error_code = ErrorCode.UNKNOWN_MEMBER_ID if request.group_id else ErrorCode.INVALID_GROUP_ID
        return answer(request.group_id, token, SyncGroupReply(error_code=error_code))
    refusal = _refusal(group, request)
    if refusal is not None:
        return answer(request.group_id, token, SyncGroupReply(error_code=refusal))

    turn = ClassicTurn(group, now=now, settings=state.settings)
    _receive(turn, request, token)
    if turn.group.state is ClassicGroupState.STABLE:
        propagate_assignment(turn)
    elif group.leader == request.member_id:
        _take_assignment(turn, request)
    return turn.decision()


def _refusal(group: ClassicGroup, request: SyncGroup) -> ErrorCode | None:
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
