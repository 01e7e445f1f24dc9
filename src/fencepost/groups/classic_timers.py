"""What the clock does to a classic group: sessions end, unused ids are forgotten, join and sync phases run out."""

from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.classic_turn import (
    ClassicTurn,
    complete_join,
    expire_initial_delay,
    prepare_rebalance,
    remove_member,
    remove_member_and_rebalance,
    remove_pending_member,
)
from fencepost.groups.decision import Decision, Now
from fencepost.settings import BrokerSettings


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
