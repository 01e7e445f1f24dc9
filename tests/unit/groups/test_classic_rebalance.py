"""The classic protocol: members that join, sync, leave, crash; what each is answered meanwhile."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol as Protocol
from fencepost.wire.messages.leave_group import MemberIdentity
from tests.unit.groups.coordinator import GROUP, REBALANCE_MS, SESSION_MS, Coordinator


def state_of(coordinator: Coordinator) -> ClassicGroupState:
    return coordinator.state.classic[GROUP].state


def leader_and_follower_in_sync_phase() -> tuple[Coordinator, str, str]:
    coordinator = Coordinator(group_initial_rebalance_delay_ms=100)
    leader, follower = coordinator.member_id(), coordinator.member_id()
    coordinator.join(leader)
    coordinator.join(follower)
    coordinator.advance(200)
    assert state_of(coordinator) is ClassicGroupState.COMPLETING_REBALANCE
    return coordinator, leader, follower


def test_an_id_that_was_handed_out_and_never_used_is_forgotten_with_its_group(coordinator):
    member_id = coordinator.member_id()
    coordinator.advance(SESSION_MS)
    assert GROUP not in coordinator.state.classic
    assert coordinator.answered[coordinator.join(member_id)].error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_an_id_that_was_handed_out(coordinator):
    (first,) = coordinator.stable_group(1)
    late = coordinator.member_id()
    token = coordinator.join(first)
    assert token not in coordinator.answered
    coordinator.join(late)
    assert len(coordinator.answered[token].members) == 2


def test_a_new_group_waits_for_more_members_and_each_one_extends_the_wait():
    coordinator = Coordinator(group_initial_rebalance_delay_ms=3000)
    first, second = coordinator.member_id(), coordinator.member_id()
    tokens = [coordinator.join(first)]
    coordinator.advance(2000)
    tokens.append(coordinator.join(second))
    coordinator.advance(3999)
    assert not set(tokens) & set(coordinator.answered)
    coordinator.advance(1)
    assert [coordinator.answered[token].generation_id for token in tokens] == [1, 1]


def test_the_wait_of_a_new_group_ends_with_the_rebalance_timeout_however_many_come():
    coordinator = Coordinator(group_initial_rebalance_delay_ms=3000)
    token = coordinator.join(coordinator.member_id(), rebalance_timeout_ms=5000)
    for _ in range(20):
        coordinator.advance(1000)
        if token in coordinator.answered:
            break
        coordinator.join(coordinator.member_id(), rebalance_timeout_ms=5000)
    assert coordinator.now.monotonic_ms <= 1_000 + 9_000


def test_a_sync_in_a_stable_group_answers_the_same_assignment_again(coordinator):
    ids = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    for member_id in ids:
        reply = coordinator.answered[coordinator.sync(member_id, generation_id)]
        assert (reply.error_code, reply.assignment) == (ErrorCode.NONE, member_id.encode())


def test_a_member_that_the_leader_forgot_gets_an_empty_assignment():
    coordinator, leader, follower = leader_and_follower_in_sync_phase()
    waiting = coordinator.sync(follower, 1)
    coordinator.sync(leader, 1, {leader: b"a"})
    assert coordinator.answered[waiting].error_code == ErrorCode.NONE
    assert coordinator.answered[waiting].assignment == b""


def test_a_member_that_leaves_starts_a_rebalance_of_the_others(coordinator):
    ids = coordinator.stable_group(3)
    generation_id = coordinator.state.classic[GROUP].generation_id
    assert coordinator.leave(ids[0]) == [ErrorCode.NONE]
    assert coordinator.heartbeat(ids[1], generation_id) is ErrorCode.REBALANCE_IN_PROGRESS
    assert coordinator.heartbeat(ids[0], generation_id) is ErrorCode.UNKNOWN_MEMBER_ID
    coordinator.rebalance(ids[1:])
    assert coordinator.state.classic[GROUP].leader == ids[1]


def test_heartbeats_keep_a_member_for_as_long_as_they_come(coordinator):
    (member_id,) = coordinator.stable_group(1)
    for _ in range(100):
        coordinator.advance(SESSION_MS - 1)
        assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000])
def test_a_wall_clock_that_steps_by_an_hour_expires_no_member(coordinator, step_ms):
    (member_id,) = coordinator.stable_group(1)
    coordinator.now = coordinator.now._replace(wall_ms=coordinator.now.wall_ms + step_ms)
    coordinator.advance(SESSION_MS - 1)
    assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


def test_a_commit_renews_the_session(coordinator):
    (member_id,) = coordinator.stable_group(1)
    coordinator.advance(SESSION_MS - 1)
    assert coordinator.commit(5, member_id=member_id, generation_id_or_member_epoch=1) is ErrorCode.NONE
    coordinator.advance(SESSION_MS - 1)
    assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


def test_the_last_member_to_leave_empties_the_group_and_its_generation_still_grows(coordinator):
    (member_id,) = coordinator.stable_group(1)
    coordinator.leave(member_id)
    group = coordinator.state.classic[GROUP]
    assert (group.state, group.generation_id, group.leader) == (ClassicGroupState.EMPTY, 2, None)
    assert coordinator.rebalance([coordinator.member_id()]) == 3


def test_members_that_do_not_join_again_in_time_are_left_behind(coordinator):
    first, second = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    token = coordinator.join(first)
    for _ in range(REBALANCE_MS // 1000):
        assert token not in coordinator.answered
        coordinator.advance(1000)
        coordinator.heartbeat(second, generation_id)
    reply = coordinator.answered[token]
    assert (reply.generation_id, [member.member_id for member in reply.members]) == (generation_id + 1, [first])
    assert coordinator.heartbeat(second, generation_id) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_leader_that_never_syncs_is_removed_and_the_others_start_over():
    coordinator, leader, follower = leader_and_follower_in_sync_phase()
    waiting = coordinator.sync(follower, 1)
    for _ in range(REBALANCE_MS // 1000):
        coordinator.heartbeat(leader, 1)
        coordinator.advance(1000)
    assert coordinator.answered[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert coordinator.rebalance([follower]) == 2
    assert coordinator.state.classic[GROUP].leader == follower


def test_a_leader_that_dies_before_it_syncs_leaves_the_others_in():
    coordinator, _, follower = leader_and_follower_in_sync_phase()
    waiting = coordinator.sync(follower, 1)
    coordinator.advance(SESSION_MS)
    assert coordinator.answered[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert list(coordinator.state.classic[GROUP].members) == [follower]


def test_a_join_while_the_leader_assigns_sends_waiting_followers_back():
    coordinator, leader, follower = leader_and_follower_in_sync_phase()
    waiting = coordinator.sync(follower, 1)
    coordinator.join(coordinator.member_id())
    assert coordinator.answered[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    late = coordinator.sync(leader, 1, {leader: b"a"})
    assert coordinator.answered[late].error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_follower_that_lost_its_answer_joins_again_into_the_same_generation(coordinator):
    leader, follower = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    reply = coordinator.answered[coordinator.join(follower)]
    assert (reply.generation_id, reply.leader, reply.members) == (generation_id, leader, [])
    assert state_of(coordinator) is ClassicGroupState.STABLE


@pytest.mark.parametrize(("position", "metadata"), [(0, b"range metadata"), (1, b"subscribed to more")])
def test_a_leader_that_joins_again_and_a_follower_with_new_metadata_start_a_rebalance(coordinator, position, metadata):
    member_id = coordinator.stable_group(2)[position]
    assert coordinator.join(member_id, protocols=[Protocol("range", metadata)]) not in coordinator.answered
    assert state_of(coordinator) is ClassicGroupState.PREPARING_REBALANCE


def test_the_group_uses_the_protocol_that_most_members_prefer_among_those_that_all_know():
    coordinator = Coordinator(group_initial_rebalance_delay_ms=100)
    sticky, ranged, special = Protocol("sticky", b""), Protocol("range", b""), Protocol("special", b"")
    offers = [(special, sticky, ranged), (ranged, sticky), (sticky, ranged)]
    tokens = [coordinator.join(coordinator.member_id(), protocols=offer) for offer in offers]
    coordinator.advance(200)
    assert {coordinator.answered[token].protocol_name for token in tokens} == {"sticky"}


@pytest.mark.parametrize(
    ("fields", "error_code"),
    [
        ({"protocols": ()}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"session_timeout_ms": 5_999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, ErrorCode.INVALID_SESSION_TIMEOUT),
    ],
)
def test_a_join_that_is_refused_leaves_no_group(coordinator, fields, error_code):
    assert coordinator.answered[coordinator.join(**fields)].error_code == error_code
    assert list(coordinator.state.group_ids()) == []


def test_a_full_group_turns_the_next_member_away():
    coordinator = Coordinator(group_max_size=2)
    coordinator.stable_group(2)
    reply = coordinator.answered[coordinator.join()]
    assert (reply.error_code, reply.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")


def test_one_group_too_many_is_refused_and_known_groups_go_on():
    coordinator = Coordinator(groups_max=1)
    (member_id,) = coordinator.stable_group(1)
    assert coordinator.answered[coordinator.join(group_id="other")].error_code == ErrorCode.POLICY_VIOLATION
    assert coordinator.commit(1, group_id="other") is ErrorCode.POLICY_VIOLATION
    assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


@pytest.mark.parametrize(
    "fields",
    [{"protocol_name": "other"}, {"protocol_type": "connect"}, {"protocol_name": None}, {"protocol_type": None}],
)
def test_a_sync_with_another_protocol_than_the_groups_is_refused(coordinator, fields):
    (member_id,) = coordinator.stable_group(1)
    reply = coordinator.answered[coordinator.sync(member_id, 1, **fields)]
    assert reply.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_sync_needs_a_group(coordinator):
    assert coordinator.answered[coordinator.sync("m", 1, group_id="")].error_code == ErrorCode.INVALID_GROUP_ID


def test_an_old_client_syncs_without_naming_the_protocol(coordinator):
    (member_id,) = coordinator.stable_group(1)
    token = coordinator.sync(member_id, 1, protocol_name=None, protocol_type=None, api_version=4)
    assert coordinator.answered[token].assignment == member_id.encode()


def test_a_second_join_of_one_member_releases_the_first(coordinator):
    first, _ = coordinator.stable_group(2)
    lost = coordinator.join(first)
    again = coordinator.join(first)
    assert coordinator.answered[lost].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert again not in coordinator.answered


def test_several_members_leave_at_once_and_each_is_answered(coordinator):
    first, second, third = coordinator.stable_group(3)
    pending = coordinator.member_id()
    codes = coordinator.leave(first, "stranger", pending, MemberIdentity(second))
    assert codes == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE, ErrorCode.NONE]
    assert list(coordinator.state.classic[GROUP].members) == [third]


def test_a_new_member_whose_client_gave_up_is_forgotten_after_five_minutes(coordinator):
    first, second = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    token = coordinator.join(api_version=3, rebalance_timeout_ms=1_800_000)
    for _ in range(310):
        coordinator.advance(1000)
        coordinator.heartbeat(first, generation_id)
        coordinator.heartbeat(second, generation_id)
    assert coordinator.answered[token].error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("checkpoint", [False, True])
def test_members_survive_a_restart_of_the_broker_with_their_generation(coordinator, checkpoint):
    ids = coordinator.stable_group(3)
    generation_id = coordinator.state.classic[GROUP].generation_id
    coordinator.restart(checkpoint=checkpoint)
    assert [coordinator.heartbeat(id_, generation_id) for id_ in ids] == [ErrorCode.NONE] * 3
    assert coordinator.answered[coordinator.sync(ids[2], generation_id)].assignment == ids[2].encode()
    coordinator.advance(SESSION_MS)
    assert coordinator.state.classic[GROUP].is_empty


def test_a_generation_that_was_never_synced_is_unknown_after_a_restart(coordinator):
    ids = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    for id_ in ids:
        coordinator.join(id_)
    assert coordinator.state.classic[GROUP].generation_id == generation_id + 1
    coordinator.restart()
    assert coordinator.heartbeat(ids[0], generation_id + 1) is ErrorCode.ILLEGAL_GENERATION
    assert coordinator.rebalance(ids) == generation_id + 1
