"""What the clock does to groups: one decision for each group whose time has come."""

from fencepost.groups.classic_timers import decide_classic_timers
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.consumer_records import records_between
from fencepost.groups.consumer_timers import ConsumerTimers
from fencepost.groups.decision import Decision, Now
from fencepost.groups.state import GroupsState
from fencepost.groups.target_assignment import remove_member


def decide_timers(state: GroupsState, *, now: Now) -> list[Decision]:
    """Call when `state.wake_at_ms` has come; calling earlier or more often does no harm."""
    return [_decide(state, group_id, now) for group_id in state.wake_times.due(now.monotonic_ms)]


def _decide(state: GroupsState, group_id: str, now: Now) -> Decision:
    consumer_group = state.consumer.get(group_id)
    if consumer_group is not None:
        return _decide_consumer_timers(consumer_group, state.consumer_timers[group_id], now)
    return decide_classic_timers(state.classic[group_id], now=now, settings=state.settings)


def _decide_consumer_timers(before: ConsumerGroup, timers: ConsumerTimers, now: Now) -> Decision:
    """Members that are silent, or that do not revoke in time, are taken out."""
    group = before
    deadlines = (*timers.session_deadlines_ms.items(), *timers.rebalance_deadlines_ms.items())
    for member_id in dict.fromkeys(member_id for member_id, at in deadlines if at <= now.monotonic_ms):
        timers = timers.without(member_id)
        if member_id in group.members:
            group = remove_member(group, member_id)
    return Decision(before.group_id, records_between(before, group), memory=timers)
