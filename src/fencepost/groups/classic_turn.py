"""A decision about one classic group in the making: the group as it will be, and the effects on the way.

`ClassicTurn` collects records and replies while the steps below move the (immutable) group forward. Nothing of it
touches the coordinator's state until the caller takes the decision over.
"""

from dataclasses import replace
from typing import Any

from fencepost.errors import ErrorCode, invariant
from fencepost.groups.classic_group import ClassicGroup, InitialDelay, Member
from fencepost.groups.decision import Call, Decision, Reply
from fencepost.groups.records import group_metadata_record
from fencepost.groups.states import ClassicGroupState, check_classic_transition
from fencepost.records.record import Record
from fencepost.settings import BrokerSettings
from fencepost.types import Now
from fencepost.wire.message import Message
from fencepost.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from fencepost.wire.messages.sync_group import SyncGroupResponse


class ClassicTurn:
    def __init__(self, group: ClassicGroup, *, now: Now, settings: BrokerSettings) -> None:
        self.group = group
        self.now = now
        self.settings = settings
        self.records: list[Record] = []
        self.replies: list[Reply] = []

    def decision(self) -> Decision:
        return Decision(self.group.group_id, tuple(self.records), tuple(self.replies), memory=self.group)

    def change(self, **fields: Any) -> None:
        self.group = replace(self.group, **fields)

    def move_to(self, state: ClassicGroupState) -> None:
        check_classic_transition(self.group.state, state)
        self.change(state=state, current_state_timestamp_ms=self.now.wall_ms)

    def persist(self) -> None:
        self.records.append(group_metadata_record(self.group.group_id, self.group.to_metadata()))

    def put(self, member: Member) -> None:
        self.change(members={**self.group.members, member.member_id: member})

    def remove(self, member_id: str) -> None:
        """Forget a member, pending or not. A leader that goes leaves its office to the member that came first."""
        members = {id_: member for id_, member in self.group.members.items() if id_ != member_id}
        pending = {id_: deadline for id_, deadline in self.group.pending_members.items() if id_ != member_id}
        leader = self.group.leader if self.group.leader != member_id else next(iter(members), None)
        self.change(
            members=members,
            pending_members=pending,
            pending_sync_members=self.group.pending_sync_members - {member_id},
            leader=leader,
        )

    def renew_session(self, member_id: str) -> None:
        member = self.group.members[member_id]
        self.put(replace(member, session_deadline_ms=self.now.monotonic_ms + member.session_timeout_ms))

    def answer(self, call: Call, message: Message) -> None:
        self.replies.append(Reply(call, message))

    def answer_join(self, member_id: str, message: JoinGroupResponse) -> None:
        member = self.group.members[member_id]
        if member.join_call is not None:
            self.answer(member.join_call, message)
            self.put(replace(member, join_call=None))

    def answer_sync(self, member_id: str, message: SyncGroupResponse) -> None:
        member = self.group.members[member_id]
        if member.sync_call is not None:
            self.answer(member.sync_call, message)
            self.put(replace(member, sync_call=None))


def join_error(error_code: ErrorCode, member_id: str = "") -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error_code, protocol_name=None, member_id=member_id)


def current_generation(group: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """What a member of this generation is answered; the leader also gets the metadata of all members."""
    members = group.members.values() if group.leader == member_id else ()
    return JoinGroupResponse(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        member_id=member_id,
        members=[
            JoinGroupResponseMember(member.member_id, member.group_instance_id, member.metadata(group.protocol_name))
            for member in members
        ],
    )


def prepare_rebalance_or_complete_join(turn: ClassicTurn) -> None:
    """After a change of membership: begin a rebalance, or let one that is under way go on."""
    if turn.group.state is ClassicGroupState.PREPARING_REBALANCE:
        complete_join_if_all_joined(turn)
    else:
        prepare_rebalance(turn)


def prepare_rebalance(turn: ClassicTurn) -> None:
    if turn.group.state is ClassicGroupState.COMPLETING_REBALANCE:
        for member in turn.group.members.values():
            turn.put(replace(member, assignment=b""))
        propagate_assignment(turn, error_code=ErrorCode.REBALANCE_IN_PROGRESS)
    turn.change(pending_sync_members=frozenset(), sync_deadline_ms=None)
    is_initial = turn.group.is_empty
    turn.move_to(ClassicGroupState.PREPARING_REBALANCE)
    if is_initial:
        _begin_initial_delay(turn)
    elif turn.group.has_all_members_joined:
        complete_join(turn)
    else:
        turn.change(join_deadline_ms=turn.now.monotonic_ms + turn.group.rebalance_timeout_ms)


def _begin_initial_delay(turn: ClassicTurn) -> None:
    delay_ms = turn.settings.group_initial_rebalance_delay_ms
    remaining_ms = max(turn.group.rebalance_timeout_ms - delay_ms, 0)
    turn.change(initial_delay=InitialDelay(delay_ms, remaining_ms), join_deadline_ms=turn.now.monotonic_ms + delay_ms)
    if delay_ms == 0:
        complete_join(turn)


def complete_join_if_all_joined(turn: ClassicTurn) -> None:
    """The first rebalance of a group runs its full delay: more members may be starting up."""
    group = turn.group
    is_waiting = group.state is ClassicGroupState.PREPARING_REBALANCE and group.initial_delay is None
    if is_waiting and group.has_all_members_joined:
        complete_join(turn)


def complete_join(turn: ClassicTurn) -> None:
    """End the join phase: those who joined make the next generation. Static members may be late; others may not."""
    turn.change(join_deadline_ms=None)
    for member in tuple(turn.group.members.values()):
        if not member.is_awaiting_join and not member.is_static:
            turn.remove(member.member_id)
    if turn.group.members and not _elect_leader(turn):
        # Only static members, none of them back yet: wait until they come or their sessions end.
        turn.change(join_deadline_ms=turn.now.monotonic_ms + turn.group.rebalance_timeout_ms)
        return
    turn.change(generation_id=turn.group.generation_id + 1, initial_delay=None, pending_sync_members=frozenset())
    if turn.group.members:
        _begin_sync_phase(turn)
    else:
        turn.change(protocol_name=None)
        turn.move_to(ClassicGroupState.EMPTY)
        turn.persist()


def _elect_leader(turn: ClassicTurn) -> bool:
    """Keep the leader if it is back, else take the first member that is; False if none is."""
    members = turn.group.members
    invariant(turn.group.leader in members, "the leader of a group with members is one of them")
    if not members[turn.group.leader or ""].is_awaiting_join:
        leader = next((member.member_id for member in members.values() if member.is_awaiting_join), None)
        if leader is None:
            return False
        turn.change(leader=leader)
    return True


def _begin_sync_phase(turn: ClassicTurn) -> None:
    turn.change(protocol_name=turn.group.select_protocol())
    turn.move_to(ClassicGroupState.COMPLETING_REBALANCE)
    for member_id in tuple(turn.group.members):
        turn.answer_join(member_id, current_generation(turn.group, member_id))
        turn.put(replace(turn.group.members[member_id], is_new=False))
        turn.renew_session(member_id)
    turn.change(
        pending_sync_members=frozenset(turn.group.members),
        sync_deadline_ms=turn.now.monotonic_ms + turn.group.rebalance_timeout_ms,
    )


def propagate_assignment(turn: ClassicTurn, *, error_code: ErrorCode = ErrorCode.NONE) -> None:
    """Answer every parked sync with the member's assignment, or with an error."""
    group = turn.group
    for member in tuple(group.members.values()):
        if member.is_awaiting_sync:
            message = SyncGroupResponse(error_code=error_code)
            if error_code is ErrorCode.NONE:
                message = SyncGroupResponse(
                    protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
                )
            turn.answer_sync(member.member_id, message)
            turn.renew_session(member.member_id)


def remove_member(turn: ClassicTurn, member_id: str) -> None:
    """Take a member out. Its parked requests, if any, are answered that it has to start over."""
    turn.answer_join(member_id, join_error(ErrorCode.UNKNOWN_MEMBER_ID))
    turn.answer_sync(member_id, SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
    turn.remove(member_id)
