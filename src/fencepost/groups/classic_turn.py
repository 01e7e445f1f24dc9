"""A decision about one classic group in the making: the group as it will be, and the effects on the way.

`ClassicTurn` collects records and replies while the steps below move the (immutable) group forward. Nothing of it
touches the coordinator's state until the caller takes the decision over.
"""

from dataclasses import replace
from typing import Any

from fencepost.errors import ErrorCode, invariant
from fencepost.groups.classic_group import ClassicGroup, InitialDelay, Member, Token
from fencepost.groups.decision import Decision, Record, Reply
from fencepost.groups.records import group_metadata_record
from fencepost.groups.replies import JoinGroupMember, JoinGroupReply, SyncGroupReply
from fencepost.groups.states import ClassicGroupState, check_classic_transition
from fencepost.settings import BrokerSettings
from fencepost.types import Now


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
        self.records.append(group_metadata_record(self.group.to_metadata()))

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

    def answer(self, token: Token, message: object) -> None:
        self.replies.append(Reply(token, message))

    def answer_join(self, member_id: str, message: JoinGroupReply) -> None:
        member = self.group.members[member_id]
        if member.join_token is not None:
            self.answer(member.join_token, message)
            self.put(replace(member, join_token=None))

    def answer_sync(self, member_id: str, message: SyncGroupReply) -> None:
        member = self.group.members[member_id]
        if member.sync_token is not None:
            self.answer(member.sync_token, message)
            self.put(replace(member, sync_token=None))


def current_generation(group: ClassicGroup, member_id: str) -> JoinGroupReply:
    """What a member of this generation is told; the leader also gets everybody's metadata."""
    members: tuple[JoinGroupMember, ...] = ()
    if group.leader == member_id:
        members = tuple(
            JoinGroupMember(member.member_id, member.group_instance_id, member.metadata(group.protocol_name))
            for member in group.members.values()
        )
    return JoinGroupReply(
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        member_id=member_id,
        members=members,
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


def expire_initial_delay(turn: ClassicTurn, delay: InitialDelay) -> None:
    if not delay.is_member_added or delay.remaining_ms == 0:
        complete_join(turn)
        return
    delay_ms = min(turn.settings.group_initial_rebalance_delay_ms, delay.remaining_ms)
    turn.change(
        initial_delay=InitialDelay(delay_ms, max(delay.remaining_ms - delay.delay_ms, 0)),
        join_deadline_ms=turn.now.monotonic_ms + delay_ms,
    )


def complete_join(turn: ClassicTurn) -> None:
    """End the join phase: whoever is here makes the next generation. Static members may be late; others may not."""
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
    """Keep the leader if it is back, else take the first member that is; False if nobody is."""
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
    is_good = error_code is ErrorCode.NONE
    for member in tuple(turn.group.members.values()):
        if member.is_awaiting_sync:
            message = SyncGroupReply(
                error_code=error_code,
                protocol_type=turn.group.protocol_type if is_good else None,
                protocol_name=turn.group.protocol_name if is_good else None,
                assignment=member.assignment if is_good else b"",
            )
            turn.answer_sync(member.member_id, message)
            turn.renew_session(member.member_id)


def remove_member(turn: ClassicTurn, member_id: str) -> None:
    """Take a member out. Its parked join, if any, is told to start over."""
    turn.answer_join(member_id, JoinGroupReply(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
    turn.answer_sync(member_id, SyncGroupReply(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
    turn.remove(member_id)


def remove_member_and_rebalance(turn: ClassicTurn, member_id: str) -> None:
    remove_member(turn, member_id)
    if turn.group.state is not ClassicGroupState.PREPARING_REBALANCE:
        prepare_rebalance(turn)
    elif turn.group.has_all_members_joined:
        complete_join(turn)


def remove_pending_member(turn: ClassicTurn, member_id: str) -> None:
    """Forget an id that was handed out and never used; it may be the last one that a rebalance waits for."""
    turn.remove(member_id)
    if turn.group.state is ClassicGroupState.PREPARING_REBALANCE and turn.group.has_all_members_joined:
        complete_join(turn)


# What the clock does to a classic group: sessions end, unused ids are forgotten, join and sync phases run out.


def decide_classic_timers(group: ClassicGroup, *, now: Now, settings: BrokerSettings) -> Decision:
    turn = ClassicTurn(group, now=now, settings=settings)
    for member_id, deadline_ms in group.pending_members.items():
        if deadline_ms <= now.monotonic_ms and member_id in turn.group.pending_members:
            remove_pending_member(turn, member_id)
    for member_id in group.members:
        _expire_session(turn, member_id)
    _expire_sync_phase(turn)
    _expire_join_phase(turn)
    return turn.decision()


def _expire_session(turn: ClassicTurn, member_id: str) -> None:
    member = turn.group.members.get(member_id)
    if member is not None and member.expires_at_ms is not None and member.expires_at_ms <= turn.now.monotonic_ms:
        remove_member_and_rebalance(turn, member_id)


def _expire_sync_phase(turn: ClassicTurn) -> None:
    deadline_ms = turn.group.sync_deadline_ms
    if deadline_ms is not None and deadline_ms <= turn.now.monotonic_ms:
        for member_id in sorted(turn.group.pending_sync_members):
            remove_member(turn, member_id)
        prepare_rebalance(turn)


def _expire_join_phase(turn: ClassicTurn) -> None:
    deadline_ms = turn.group.join_deadline_ms
    if deadline_ms is not None and deadline_ms <= turn.now.monotonic_ms:
        if turn.group.initial_delay is not None:
            expire_initial_delay(turn, turn.group.initial_delay)
        else:
            complete_join(turn)
