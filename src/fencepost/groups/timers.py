"""What the clock does to groups: one decision for each group whose time has come.

Classic groups: sessions end, ids that were handed out and never used are forgotten, join and sync phases run out.
KIP-848 groups: members that are silent, or that do not revoke in time, are taken out.
"""

from fencepost.groups.assignors import remove_member as remove_consumer
from fencepost.groups.classic_group import ClassicGroup, InitialDelay
from fencepost.groups.classic_turn import ClassicTurn, complete_join, prepare_rebalance, remove_member
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerTimers
from fencepost.groups.consumer_records import records_between
from fencepost.groups.decision import Decision
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.settings import BrokerSettings
from fencepost.types import Now


def decide_timers(state: GroupsState, *, now: Now) -> list[Decision]:
    """Call when `state.wake_at_ms` has come; calling earlier or more often does no harm."""
    return [_decide(state, group_id, now) for group_id in state.wake_times.due(now.monotonic_ms)]


def _decide(state: GroupsState, group_id: str, now: Now) -> Decision:
    consumer_group = state.consumer.get(group_id)
    if consumer_group is not None:
        return _decide_consumer(consumer_group, state.consumer_timers[group_id], now)
    return _decide_classic(state.classic[group_id], now, state.settings)


def _decide_consumer(before: ConsumerGroup, timers: ConsumerTimers, now: Now) -> Decision:
    group = before
    deadlines = (*timers.session_deadlines_ms.items(), *timers.rebalance_deadlines_ms.items())
    for member_id in dict.fromkeys(member_id for member_id, at in deadlines if at <= now.monotonic_ms):
        timers = timers.without(member_id)
        if member_id in group.members:
            group = remove_consumer(group, member_id)
    return Decision(before.group_id, records_between(before, group), memory=timers)


def _decide_classic(group: ClassicGroup, now: Now, settings: BrokerSettings) -> Decision:
    turn = ClassicTurn(group, now=now, settings=settings)
    for member_id, deadline_ms in group.pending_members.items():
        if deadline_ms <= now.monotonic_ms and member_id in turn.group.pending_members:
            turn.remove(member_id)
            _complete_join_if_last(turn)
    for member_id in group.members:
        member = turn.group.members.get(member_id)
        if member is not None and _is_over(member.expires_at_ms, now):
            remove_member(turn, member_id)
            if turn.group.state is not ClassicGroupState.PREPARING_REBALANCE:
                prepare_rebalance(turn)
            else:
                _complete_join_if_last(turn)
    if _is_over(turn.group.sync_deadline_ms, now):
        for member_id in sorted(turn.group.pending_sync_members):
            remove_member(turn, member_id)
        prepare_rebalance(turn)
    if _is_over(turn.group.join_deadline_ms, now):
        _end_join_phase(turn, turn.group.initial_delay)
    return turn.decision()


def _is_over(deadline_ms: int | None, now: Now) -> bool:
    return deadline_ms is not None and deadline_ms <= now.monotonic_ms


def _complete_join_if_last(turn: ClassicTurn) -> None:
    """The member that has gone, or the id that is forgotten, may be the last one that a rebalance waits for."""
    if turn.group.state is ClassicGroupState.PREPARING_REBALANCE and turn.group.has_all_members_joined:
        complete_join(turn)


def _end_join_phase(turn: ClassicTurn, delay: InitialDelay | None) -> None:
    """A new group goes on waiting if members came meanwhile."""
    if delay is None or not delay.is_member_added or delay.remaining_ms == 0:
        complete_join(turn)
        return
    delay_ms = min(turn.settings.group_initial_rebalance_delay_ms, delay.remaining_ms)
    turn.change(
        initial_delay=InitialDelay(delay_ms, max(delay.remaining_ms - delay.delay_ms, 0)),
        join_deadline_ms=turn.now.monotonic_ms + delay_ms,
    )
