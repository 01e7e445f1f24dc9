"""The tables of states, and every request in every state of a classic group."""

from itertools import product

import pytest

from fencepost.errors import ErrorCode, InvariantBroken
from fencepost.groups import states
from fencepost.groups.states import ClassicGroupState, MemberState
from tests.unit.groups.coordinator import GROUP, Coordinator

E = ErrorCode


def test_every_state_is_explained_and_every_arrow_joins_known_states():
    for enum, explained, arrows in (
        (states.ClassicGroupState, states.CLASSIC_GROUP_STATES, states.CLASSIC_GROUP_TRANSITIONS),
        (states.ConsumerGroupState, states.CONSUMER_GROUP_STATES, states.CONSUMER_GROUP_TRANSITIONS),
        (states.MemberState, states.MEMBER_STATES, states.MEMBER_TRANSITIONS),
    ):
        assert set(explained) == set(enum)
        assert all(isinstance(each, enum) for arrow in arrows for each in arrow)
        assert all(before is not after for before, after in arrows)


def test_a_missing_arrow_is_a_bug_and_stops():
    legal = set(states.CLASSIC_GROUP_TRANSITIONS)
    for before, after in product(ClassicGroupState, repeat=2):
        if (before, after) in legal:
            states.check_classic_transition(before, after)
        else:
            with pytest.raises(InvariantBroken):
                states.check_classic_transition(before, after)
    for before, after in product(MemberState, repeat=2):
        states.check_member_transition(before, after)


def group_in(state: ClassicGroupState) -> tuple[Coordinator, str]:
    """A group of one member in this state, and the member's id (its last one, if it is gone)."""
    coordinator = Coordinator()
    member_id = coordinator.member_id()
    coordinator.rebalance([member_id])
    if state is ClassicGroupState.EMPTY:
        coordinator.leave(member_id)
    elif state is ClassicGroupState.DEAD:
        coordinator.leave(member_id)
        coordinator.delete_group()
    elif state is ClassicGroupState.PREPARING_REBALANCE:
        coordinator.member_id()
        coordinator.join(member_id)
    elif state is ClassicGroupState.COMPLETING_REBALANCE:
        coordinator.join(member_id)
    found = coordinator.state.find(GROUP)
    assert (ClassicGroupState.DEAD if found is None else found.state) is state
    return coordinator, member_id


PARKED = "parked"
UNKNOWN, REBALANCING = E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS
# Per state: what a known member hears to join, sync, heartbeat, commit, transactional commit, leave.
ANSWERS = {
    ClassicGroupState.EMPTY: (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    ClassicGroupState.PREPARING_REBALANCE: (PARKED, REBALANCING, REBALANCING, E.NONE, E.NONE, E.NONE),
    ClassicGroupState.COMPLETING_REBALANCE: (E.NONE, E.NONE, E.NONE, REBALANCING, E.NONE, E.NONE),
    ClassicGroupState.STABLE: (E.NONE, E.NONE, E.NONE, E.NONE, E.NONE, E.NONE),
    ClassicGroupState.DEAD: (UNKNOWN, UNKNOWN, UNKNOWN, E.GROUP_ID_NOT_FOUND, E.ILLEGAL_GENERATION, UNKNOWN),
}


@pytest.mark.parametrize("state", list(ClassicGroupState))
@pytest.mark.parametrize("position", range(6))
def test_a_member_is_answered_by_the_table_in_every_state(state, position):
    coordinator, member_id = group_in(state)
    group = coordinator.state.find(GROUP)
    generation_id = getattr(group, "generation_id", 1)

    def outcome(token: int) -> object:
        return coordinator.answered[token].error_code if token in coordinator.answered else PARKED

    ask = (
        lambda: outcome(coordinator.join(member_id)),
        lambda: outcome(coordinator.sync(member_id, generation_id)),
        lambda: coordinator.heartbeat(member_id, generation_id),
        lambda: coordinator.commit(1, member_id=member_id, generation_id_or_member_epoch=generation_id),
        lambda: coordinator.txn_commit(9, 1, member_id=member_id, generation_id=generation_id),
        lambda: coordinator.leave(member_id)[0],
    )[position]
    assert ask() == ANSWERS[state][position]
