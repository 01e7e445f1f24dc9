"""What the clock does to groups: one decision for each group whose time has come."""

from fencepost.groups.classic_timers import decide_classic_timers
from fencepost.groups.decision import Decision, Now
from fencepost.groups.state import GroupsState


def decide_timers(state: GroupsState, *, now: Now) -> list[Decision]:
    """Call when `state.wake_at_ms` has come; calling earlier or more often does no harm."""
    return [_decide(state, group_id, now) for group_id in state.wake_times.due(now.monotonic_ms)]


def _decide(state: GroupsState, group_id: str, now: Now) -> Decision:
    return decide_classic_timers(state.classic[group_id], now=now, settings=state.settings)
