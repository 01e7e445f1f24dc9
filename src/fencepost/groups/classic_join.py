"""JoinGroup (classic protocol), all versions.

A dynamic member of version 4 and later first gets an id (KIP-394) and joins again with it. A static member
(KIP-345) that comes back without its id takes its old place over: the old id is fenced, and a stable group does not
rebalance. A member that joins a non-empty KIP-848 group is refused: Fencepost does not convert groups with members
(Kafka's migration policy "disabled").
"""

from dataclasses import replace

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup, Member, Token, rebalance_timeout_ms
from fencepost.groups.classic_turn import (
    ClassicTurn,
    complete_join_if_all_joined,
    current_generation,
    prepare_rebalance,
    prepare_rebalance_or_complete_join,
)
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.consumer_records import consumer_group_tombstones
from fencepost.groups.decision import Decision, Record, answer
from fencepost.groups.replies import JoinGroupReply, SyncGroupReply
from fencepost.groups.requests import NO_MEMBER_ID, JoinGroup
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.types import Now
from fencepost.wire.reading import STRING_BYTES_MAX

# Kafka's: how long the parked join of a member that cannot send heartbeats yet is believed in.
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000

SINCE_KNOWN_MEMBER_ID = 4
SINCE_SKIP_ASSIGNMENT = 9


def decide_join(state: GroupsState, request: JoinGroup, *, token: Token, now: Now) -> Decision:
    group = state.find(request.group_id)
    error_code = _refusal(state, request, group)
    if error_code is not None:
        return answer(request.group_id, token, JoinGroupReply(error_code=error_code, member_id=request.member_id))
    tombstones: tuple[Record, ...] = ()
    if isinstance(group, ConsumerGroup):
        tombstones = consumer_group_tombstones(group)
        group = None
    turn = ClassicTurn(group or ClassicGroup(group_id=request.group_id), now=now, settings=state.settings)
    turn.records.extend(tombstones)
    if not _accepts(turn.group, request.member_id, state.settings.group_max_size):
        turn.remove(request.member_id)
        turn.answer(token, JoinGroupReply(error_code=ErrorCode.GROUP_MAX_SIZE_REACHED))
    elif not turn.group.supports_protocols(request.protocol_type, request.protocols):
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        turn.answer(token, JoinGroupReply(error_code=code, member_id=request.member_id))
    elif request.member_id == NO_MEMBER_ID:
        _join_without_id(turn, request, token, state.new_member_id(request.group_instance_id or request.client_id))
    else:
        _join_with_id(turn, request, token)
    return turn.decision()


def _refusal(state: GroupsState, request: JoinGroup, group: ClassicGroup | ConsumerGroup | None) -> ErrorCode | None:
    settings = state.settings
    if not request.group_id or not _can_be_stored(request.group_id):
        return ErrorCode.INVALID_GROUP_ID
    names = (request.protocol_type, request.group_instance_id or "", *(name for name, _ in request.protocols))
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


def _join_without_id(turn: ClassicTurn, request: JoinGroup, token: Token, new_member_id: str) -> None:
    if request.group_instance_id is not None:
        old_member_id = turn.group.static_member_id(request.group_instance_id)
        if old_member_id is None:
            _add_member(turn, request, token, new_member_id)
        else:
            _replace_static_member(turn, request, token, old_member_id, new_member_id)
    elif request.api_version >= SINCE_KNOWN_MEMBER_ID:
        deadline_ms = turn.now.monotonic_ms + request.session_timeout_ms
        turn.change(pending_members={**turn.group.pending_members, new_member_id: deadline_ms})
        turn.answer(token, JoinGroupReply(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id=new_member_id))
    else:
        _add_member(turn, request, token, new_member_id)


def _join_with_id(turn: ClassicTurn, request: JoinGroup, token: Token) -> None:
    group, member_id = turn.group, request.member_id
    if member_id in group.pending_members and request.group_instance_id is None:
        _add_member(turn, request, token, member_id)
        return
    error_code = group.refusal_of_member(member_id, request.group_instance_id)
    if error_code is not None:
        turn.answer(token, JoinGroupReply(error_code=error_code, member_id=member_id))
        return
    # A leader of a stable group joins again to have topics assigned that came since, or partitions that it gave up.
    is_leader_of_stable = group.state is ClassicGroupState.STABLE and group.leader == member_id
    is_changed = group.members[member_id].protocols != request.protocols
    if group.state is ClassicGroupState.PREPARING_REBALANCE or is_changed or is_leader_of_stable:
        _update_member(turn, request, token, member_id)
        prepare_rebalance_or_complete_join(turn)
    else:
        turn.answer(token, current_generation(group, member_id))


def _add_member(turn: ClassicTurn, request: JoinGroup, token: Token, member_id: str) -> None:
    group = turn.group
    member = Member(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=rebalance_timeout_ms(request),
        session_timeout_ms=request.session_timeout_ms,
        protocols=request.protocols,
        join_token=token,
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


def _update_member(turn: ClassicTurn, request: JoinGroup, token: Token, member_id: str) -> None:
    # A second join or sync of one member supersedes the first, whose connection must not wait forever.
    turn.answer_join(member_id, JoinGroupReply(error_code=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member_id))
    turn.put(
        replace(
            turn.group.members[member_id],
            protocols=request.protocols,
            rebalance_timeout_ms=rebalance_timeout_ms(request),
            session_timeout_ms=request.session_timeout_ms,
            join_token=token,
        )
    )


def _replace_static_member(
    turn: ClassicTurn, request: JoinGroup, token: Token, old_member_id: str, new_member_id: str
) -> None:
    """KIP-345: the new id takes the old one's place, assignment and office; whoever still uses the old id is fenced."""
    old_leader = turn.group.leader
    fenced = ErrorCode.FENCED_INSTANCE_ID
    turn.answer_join(old_member_id, JoinGroupReply(error_code=fenced, member_id=old_member_id))
    turn.answer_sync(old_member_id, SyncGroupReply(error_code=fenced))
    members = dict(turn.group.members)
    old_member = members.pop(old_member_id)
    members[new_member_id] = replace(old_member, member_id=new_member_id, is_new=False)
    turn.change(
        members=members,
        pending_sync_members=turn.group.pending_sync_members - {old_member_id},
        leader=new_member_id if old_leader == old_member_id else old_leader,
    )
    turn.renew_session(new_member_id)
    _update_member(turn, request, token, new_member_id)

    state = turn.group.state
    if state is ClassicGroupState.PREPARING_REBALANCE:
        complete_join_if_all_joined(turn)
    elif state is ClassicGroupState.STABLE and turn.group.select_protocol() == turn.group.protocol_name:
        _keep_stable(turn, new_member_id, old_leader or "", request.api_version)
    else:
        # While the leader assigns, it may already have been told of the old id: everybody joins again.
        prepare_rebalance(turn)


def _keep_stable(turn: ClassicTurn, member_id: str, old_leader: str, api_version: int) -> None:
    turn.persist()
    message = current_generation(turn.group, member_id)
    if api_version >= SINCE_SKIP_ASSIGNMENT:
        message = replace(message, skip_assignment=turn.group.leader == member_id)
    else:
        # Such a client assigns when it finds itself to be the leader; naming the fenced id keeps it from that.
        message = replace(message, leader=old_leader, members=())
    turn.answer_join(member_id, message)
