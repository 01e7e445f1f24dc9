"""JoinGroup (classic protocol), all versions.

A dynamic member of version 4 and later first gets an id (KIP-394) and joins again with it. A static member
(KIP-345) that comes back without its id takes its old place over: the old id is fenced, and a stable group does not
rebalance. A member that joins a non-empty KIP-848 group is refused: Fencepost does not convert groups with members
(Kafka's migration policy "disabled").
"""

from dataclasses import replace

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import NO_MEMBER_ID, ClassicGroup, Member
from fencepost.groups.classic_turn import (
    ClassicTurn,
    current_generation,
    join_error,
    prepare_rebalance_or_complete_join,
)
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.consumer_records import consumer_group_tombstones
from fencepost.groups.decision import Call, Decision, answer
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.messages.join_group import JoinGroupRequest
from fencepost.wire.messages.sync_group import SyncGroupResponse
from fencepost.wire.reading import STRING_BYTES_MAX

# Kafka's: how long the parked join of a member that cannot send heartbeats yet is believed in.
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000

SINCE_KNOWN_MEMBER_ID = 4
SINCE_SKIP_ASSIGNMENT = 9


def decide_join(state: GroupsState, call: Call) -> Decision:
    request: JoinGroupRequest = call.request
    group = state.find(request.group_id)
    error_code = _refusal(state, request, group)
    if error_code is not None:
        return answer(call, join_error(error_code, request.member_id))
    before = group if isinstance(group, ClassicGroup) else ClassicGroup(group_id=request.group_id)
    turn = ClassicTurn(before, now=call.now, settings=state.settings)
    if isinstance(group, ConsumerGroup):
        turn.records.extend(consumer_group_tombstones(group))
    if not _accepts(turn.group, request.member_id, state.settings.group_max_size):
        turn.remove(request.member_id)
        turn.answer(call, join_error(ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not turn.group.supports_protocols(request.protocol_type, request.protocols):
        turn.answer(call, join_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id))
    elif request.member_id == NO_MEMBER_ID:
        _join_without_id(turn, call, state.new_member_id(request.group_instance_id or call.client_id))
    else:
        _join_with_id(turn, call)
    return turn.decision()


def _refusal(
    state: GroupsState, request: JoinGroupRequest, group: ClassicGroup | ConsumerGroup | None
) -> ErrorCode | None:
    settings = state.settings
    if not request.group_id or not _can_be_stored(request.group_id):
        return ErrorCode.INVALID_GROUP_ID
    names = (request.protocol_type, request.group_instance_id or "", *(offer.name for offer in request.protocols))
    if not all(map(_can_be_stored, names)):
        return ErrorCode.INVALID_REQUEST
    if not settings.group_min_session_timeout_ms <= request.session_timeout_ms <= settings.group_max_session_timeout_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    if isinstance(group, ConsumerGroup) and group.members:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group is None:
        if request.member_id != NO_MEMBER_ID:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if state.is_full:
            return ErrorCode.POLICY_VIOLATION
    return None


def _can_be_stored(name: str) -> bool:
    """Flexible requests carry longer strings than the records of a group can hold."""
    return len(name.encode()) <= STRING_BYTES_MAX


def _accepts(group: ClassicGroup, member_id: str, size_max: int) -> bool:
    """Whether the group has room. During a rebalance those who joined count, so that the last to come are left out."""
    if group.is_empty:
        return True
    member = group.members.get(member_id)
    if group.state is ClassicGroupState.PREPARING_REBALANCE:
        return (member is not None and member.is_awaiting_join) or group.awaiting_join_count < size_max
    return member is not None or len(group.members) < size_max


def _join_without_id(turn: ClassicTurn, call: Call, new_member_id: str) -> None:
    request: JoinGroupRequest = call.request
    if request.group_instance_id is not None:
        old_member_id = turn.group.static_member_id(request.group_instance_id)
        if old_member_id is None:
            _add_member(turn, call, new_member_id)
        else:
            _replace_static_member(turn, call, old_member_id, new_member_id)
    elif call.api_version >= SINCE_KNOWN_MEMBER_ID:
        deadline_ms = turn.now.monotonic_ms + request.session_timeout_ms
        turn.change(pending_members={**turn.group.pending_members, new_member_id: deadline_ms})
        turn.answer(call, join_error(ErrorCode.MEMBER_ID_REQUIRED, new_member_id))
    else:
        _add_member(turn, call, new_member_id)


def _join_with_id(turn: ClassicTurn, call: Call) -> None:
    request: JoinGroupRequest = call.request
    group, member_id = turn.group, request.member_id
    if member_id in group.pending_members and request.group_instance_id is None:
        _add_member(turn, call, member_id)
        return
    error_code = group.refusal_of_member(member_id, request.group_instance_id)
    if error_code is not None:
        turn.answer(call, join_error(error_code, member_id))
        return
    # A leader of a stable group joins again to have topics assigned that came since, or partitions that it gave up.
    is_leader_of_stable = group.state is ClassicGroupState.STABLE and group.leader == member_id
    is_changed = group.members[member_id].protocols != request.protocols
    if group.state is ClassicGroupState.PREPARING_REBALANCE or is_changed or is_leader_of_stable:
        _update_member(turn, call, member_id)
        prepare_rebalance_or_complete_join(turn)
    else:
        turn.answer(call, current_generation(group, member_id))


def _rebalance_timeout_ms(request: JoinGroupRequest) -> int:
    """Version 0 has no rebalance timeout: the session timeout stands in for it."""
    return request.rebalance_timeout_ms if request.rebalance_timeout_ms >= 0 else request.session_timeout_ms


def _add_member(turn: ClassicTurn, call: Call, member_id: str) -> None:
    group = turn.group
    request: JoinGroupRequest = call.request
    member = Member(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=call.client_id,
        client_host=call.client_host,
        rebalance_timeout_ms=_rebalance_timeout_ms(request),
        session_timeout_ms=request.session_timeout_ms,
        protocols=request.protocols,
        join_call=call,
        is_new=True,
        session_deadline_ms=turn.now.monotonic_ms + NEW_MEMBER_JOIN_TIMEOUT_MS,
    )
    if group.initial_delay is not None:
        turn.change(initial_delay=group.initial_delay._replace(is_member_added=True))
    if not group.members:
        turn.change(protocol_type=request.protocol_type)
    turn.change(
        leader=group.leader or member_id,
        pending_members={id_: deadline for id_, deadline in group.pending_members.items() if id_ != member_id},
    )
    turn.put(member)
    prepare_rebalance_or_complete_join(turn)


def _update_member(turn: ClassicTurn, call: Call, member_id: str) -> None:
    request: JoinGroupRequest = call.request
    # A second join or sync of one member supersedes the first, whose connection must not wait forever.
    turn.answer_join(member_id, join_error(ErrorCode.REBALANCE_IN_PROGRESS, member_id))
    turn.put(
        replace(
            turn.group.members[member_id],
            protocols=request.protocols,
            rebalance_timeout_ms=_rebalance_timeout_ms(request),
            session_timeout_ms=request.session_timeout_ms,
            join_call=call,
        )
    )


def _replace_static_member(turn: ClassicTurn, call: Call, old_member_id: str, new_member_id: str) -> None:
    """KIP-345: the new id takes the old one's place, assignment and office; a client with the old id is fenced."""
    old_leader = turn.group.leader
    turn.answer_join(old_member_id, join_error(ErrorCode.FENCED_INSTANCE_ID, old_member_id))
    turn.answer_sync(old_member_id, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID))
    members = dict(turn.group.members)
    old_member = members.pop(old_member_id)
    members[new_member_id] = replace(old_member, member_id=new_member_id, is_new=False)
    turn.change(
        members=members,
        pending_sync_members=turn.group.pending_sync_members - {old_member_id},
        leader=new_member_id if old_leader == old_member_id else old_leader,
    )
    turn.renew_session(new_member_id)
    _update_member(turn, call, new_member_id)

    is_stable = turn.group.state is ClassicGroupState.STABLE
    if is_stable and turn.group.select_protocol() == turn.group.protocol_name:
        _keep_stable(turn, new_member_id, old_leader or "", call.api_version)
    else:
        # While the leader assigns, it may already know the old id: all members join again.
        prepare_rebalance_or_complete_join(turn)


def _keep_stable(turn: ClassicTurn, member_id: str, old_leader: str, api_version: int) -> None:
    turn.persist()
    message = current_generation(turn.group, member_id)
    if api_version >= SINCE_SKIP_ASSIGNMENT:
        message.skip_assignment = turn.group.leader == member_id
    else:
        # Such a client assigns when it finds itself to be the leader; naming the fenced id keeps it from that.
        message.leader, message.members = old_leader, []
    turn.answer_join(member_id, message)
