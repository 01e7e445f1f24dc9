"""The classic protocol: members that join, sync, leave, crash; what each is told meanwhile."""

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


def test_a_dynamic_member_is_given_an_id_before_it_may_join():
    coordinator = Coordinator()
    reply = coordinator.answered[coordinator.join()]
    assert (reply.error_code, reply.member_id) == (ErrorCode.MEMBER_ID_REQUIRED, "client-1")
    assert coordinator.answered[coordinator.join("client-1")].generation_id == 1


def test_a_member_of_an_old_client_joins_without_the_extra_round():
    coordinator = Coordinator()
    reply = coordinator.answered[coordinator.join(api_version=3)]
    assert (reply.error_code, reply.generation_id, reply.leader) == (ErrorCode.NONE, 1, reply.member_id)


def test_an_id_that_was_handed_out_and_never_used_is_forgotten_with_its_group():
    coordinator = Coordinator()
    member_id = coordinator.member_id()
    coordinator.advance(SESSION_MS)
    assert GROUP not in coordinator.state.classic
    assert coordinator.answered[coordinator.join(member_id)].error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_an_id_that_was_handed_out():
    coordinator = Coordinator()
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


def test_the_leader_alone_learns_everybodys_metadata():
    coordinator = Coordinator(group_initial_rebalance_delay_ms=100)
    ids = [coordinator.member_id() for _ in range(3)]
    tokens = [coordinator.join(member_id, protocols=(Protocol("range", member_id.encode()),)) for member_id in ids]
    coordinator.advance(200)
    leader, *followers = [coordinator.answered[token] for token in tokens]
    assert leader.leader == ids[0]
    assert [(member.member_id, member.metadata) for member in leader.members] == [(id_, id_.encode()) for id_ in ids]
    assert [follower.members for follower in followers] == [[], []]


def test_followers_wait_for_the_leaders_assignment():
    coordinator, leader, follower = leader_and_follower_in_sync_phase()
    waiting = coordinator.sync(follower, 1)
    assert waiting not in coordinator.answered
    assert state_of(coordinator) is ClassicGroupState.COMPLETING_REBALANCE
    coordinator.sync(leader, 1, {leader: b"a", follower: b"b"})
    assert coordinator.answered[waiting].assignment == b"b"
    assert state_of(coordinator) is ClassicGroupState.STABLE


def test_a_sync_in_a_stable_group_answers_the_same_assignment_again():
    coordinator = Coordinator()
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


def test_three_members_hear_of_a_fourth_and_all_move_to_the_next_generation():
    coordinator = Coordinator()
    ids = coordinator.stable_group(3)
    generation_id = coordinator.state.classic[GROUP].generation_id
    fourth = coordinator.join(coordinator.member_id())
    assert [coordinator.heartbeat(id_, generation_id) for id_ in ids] == [ErrorCode.REBALANCE_IN_PROGRESS] * 3
    tokens = [coordinator.join(id_) for id_ in ids]
    assert {coordinator.answered[token].generation_id for token in (*tokens, fourth)} == {generation_id + 1}


def test_a_member_that_leaves_starts_a_rebalance_of_the_others():
    coordinator = Coordinator()
    ids = coordinator.stable_group(3)
    generation_id = coordinator.state.classic[GROUP].generation_id
    assert coordinator.leave(ids[0]) == [ErrorCode.NONE]
    assert coordinator.heartbeat(ids[1], generation_id) is ErrorCode.REBALANCE_IN_PROGRESS
    assert coordinator.heartbeat(ids[0], generation_id) is ErrorCode.UNKNOWN_MEMBER_ID
    coordinator.rebalance(ids[1:])
    assert coordinator.state.classic[GROUP].leader == ids[1]


def test_a_member_that_crashes_is_dropped_when_its_session_ends():
    coordinator = Coordinator()
    alive, crashed = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    for _ in range(3):
        coordinator.advance(SESSION_MS // 3)
        coordinator.heartbeat(alive, generation_id)
    coordinator.advance(SESSION_MS // 3)
    assert crashed not in coordinator.state.classic[GROUP].members
    assert coordinator.rebalance([alive]) == generation_id + 1


def test_heartbeats_keep_a_member_for_as_long_as_they_come():
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    for _ in range(100):
        coordinator.advance(SESSION_MS - 1)
        assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000])
def test_a_wall_clock_that_steps_by_an_hour_expires_nobody(step_ms):
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    coordinator.now = coordinator.now._replace(wall_ms=coordinator.now.wall_ms + step_ms)
    coordinator.advance(SESSION_MS - 1)
    assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


def test_a_commit_renews_the_session():
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    coordinator.advance(SESSION_MS - 1)
    assert coordinator.commit(5, member_id=member_id, generation_id_or_member_epoch=1) is ErrorCode.NONE
    coordinator.advance(SESSION_MS - 1)
    assert coordinator.heartbeat(member_id, 1) is ErrorCode.NONE


def test_the_last_member_to_leave_empties_the_group_and_its_generation_still_grows():
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    coordinator.leave(member_id)
    group = coordinator.state.classic[GROUP]
    assert (group.state, group.generation_id, group.leader) == (ClassicGroupState.EMPTY, 2, None)
    assert coordinator.rebalance([coordinator.member_id()]) == 3


def test_members_that_do_not_join_again_in_time_are_left_behind():
    coordinator = Coordinator()
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


def test_a_leader_that_dies_before_it_syncs_takes_nobody_along():
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


def test_a_follower_that_lost_its_answer_joins_again_into_the_same_generation():
    coordinator = Coordinator()
    leader, follower = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    reply = coordinator.answered[coordinator.join(follower)]
    assert (reply.generation_id, reply.leader, reply.members) == (generation_id, leader, [])
    assert state_of(coordinator) is ClassicGroupState.STABLE


def test_a_leader_that_joins_again_starts_a_rebalance():
    coordinator = Coordinator()
    leader, _ = coordinator.stable_group(2)
    token = coordinator.join(leader)
    assert token not in coordinator.answered
    assert state_of(coordinator) is ClassicGroupState.PREPARING_REBALANCE


def test_a_follower_with_new_metadata_starts_a_rebalance():
    coordinator = Coordinator()
    _, follower = coordinator.stable_group(2)
    coordinator.join(follower, protocols=(Protocol("range", b"subscribed to more"),))
    assert state_of(coordinator) is ClassicGroupState.PREPARING_REBALANCE


def test_cooperative_members_give_up_in_one_rebalance_and_receive_in_the_next():
    coordinator = Coordinator()
    protocol = Protocol("cooperative-sticky", b"owns 0 1")
    first = coordinator.member_id()
    coordinator.join(first, protocols=(protocol,))
    coordinator.sync(first, 1, {first: b"0 1"}, protocol_name="cooperative-sticky")

    second = coordinator.member_id(protocols=(protocol,))
    joined = [coordinator.join(second, protocols=(Protocol("cooperative-sticky", b"owns nothing"),))]
    joined.append(coordinator.join(first, protocols=(protocol,)))
    assert {coordinator.answered[token].generation_id for token in joined} == {2}
    waiting = coordinator.sync(second, 2, protocol_name="cooperative-sticky")
    coordinator.sync(first, 2, {first: b"0", second: b""}, protocol_name="cooperative-sticky")
    assert coordinator.answered[waiting].assignment == b""

    rejoin = coordinator.join(first, protocols=(Protocol("cooperative-sticky", b"owns 0"),))
    assert coordinator.heartbeat(second, 2) is ErrorCode.REBALANCE_IN_PROGRESS
    coordinator.join(second, protocols=(Protocol("cooperative-sticky", b"owns nothing"),))
    assert coordinator.answered[rejoin].generation_id == 3
    waiting = coordinator.sync(second, 3, protocol_name="cooperative-sticky")
    coordinator.sync(first, 3, {first: b"0", second: b"1"}, protocol_name="cooperative-sticky")
    assert coordinator.answered[waiting].assignment == b"1"


def test_the_group_uses_the_protocol_that_most_members_prefer_among_those_that_all_know():
    coordinator = Coordinator(group_initial_rebalance_delay_ms=100)
    sticky, ranged, special = Protocol("sticky", b""), Protocol("range", b""), Protocol("special", b"")
    offers = [(special, sticky, ranged), (ranged, sticky), (sticky, ranged)]
    tokens = [coordinator.join(coordinator.member_id(), protocols=offer) for offer in offers]
    coordinator.advance(200)
    assert {coordinator.answered[token].protocol_name for token in tokens} == {"sticky"}


def test_a_member_with_no_protocol_in_common_is_refused():
    coordinator = Coordinator()
    coordinator.stable_group(1)
    for fields in ({"protocols": (Protocol("other", b""),)}, {"protocol_type": "connect"}, {"protocols": ()}):
        reply = coordinator.answered[coordinator.join(**fields)]
        assert reply.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_first_member_must_say_what_it_speaks():
    for fields in ({"protocols": ()}, {"protocol_type": ""}):
        coordinator = Coordinator()
        assert coordinator.answered[coordinator.join(**fields)].error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert list(coordinator.state.group_ids()) == []


@pytest.mark.parametrize("session_timeout_ms", [5_999, 1_800_001])
def test_a_session_timeout_out_of_bounds_is_refused(session_timeout_ms):
    coordinator = Coordinator()
    reply = coordinator.answered[coordinator.join(session_timeout_ms=session_timeout_ms)]
    assert reply.error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_an_empty_group_id_is_refused():
    coordinator = Coordinator()
    assert coordinator.answered[coordinator.join(group_id="")].error_code == ErrorCode.INVALID_GROUP_ID
    assert coordinator.answered[coordinator.sync("m", 1, group_id="")].error_code == ErrorCode.INVALID_GROUP_ID


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


def test_strangers_and_late_comers_are_told_what_is_wrong():
    coordinator = Coordinator()
    member_id, _ = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    assert coordinator.heartbeat("stranger", generation_id) is ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinator.heartbeat(member_id, generation_id - 1) is ErrorCode.ILLEGAL_GENERATION
    assert coordinator.answered[coordinator.sync(member_id, 0)].error_code == ErrorCode.ILLEGAL_GENERATION
    assert coordinator.answered[coordinator.sync("stranger", 1)].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinator.answered[coordinator.join("stranger")].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinator.leave("stranger") == [ErrorCode.UNKNOWN_MEMBER_ID]


@pytest.mark.parametrize(
    "fields",
    [{"protocol_name": "other"}, {"protocol_type": "connect"}, {"protocol_name": None}, {"protocol_type": None}],
)
def test_a_sync_with_another_protocol_than_the_groups_is_refused(fields):
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    reply = coordinator.answered[coordinator.sync(member_id, 1, **fields)]
    assert reply.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_an_old_client_syncs_without_naming_the_protocol():
    coordinator = Coordinator()
    (member_id,) = coordinator.stable_group(1)
    token = coordinator.sync(member_id, 1, protocol_name=None, protocol_type=None, api_version=4)
    assert coordinator.answered[token].assignment == member_id.encode()


def test_a_second_join_of_one_member_releases_the_first():
    coordinator = Coordinator()
    first, _ = coordinator.stable_group(2)
    lost = coordinator.join(first)
    again = coordinator.join(first)
    assert coordinator.answered[lost].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert again not in coordinator.answered


def test_several_members_leave_at_once_and_each_is_answered():
    coordinator = Coordinator()
    first, second, third = coordinator.stable_group(3)
    pending = coordinator.member_id()
    codes = coordinator.leave(first, "stranger", pending, MemberIdentity(second))
    assert codes == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE, ErrorCode.NONE]
    assert list(coordinator.state.classic[GROUP].members) == [third]


def test_a_new_member_whose_client_gave_up_is_forgotten_after_five_minutes():
    coordinator = Coordinator()
    first, second = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    token = coordinator.join(api_version=3, rebalance_timeout_ms=1_800_000)
    for _ in range(310):
        coordinator.advance(1000)
        coordinator.heartbeat(first, generation_id)
        coordinator.heartbeat(second, generation_id)
    assert coordinator.answered[token].error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("checkpoint", [False, True])
def test_members_survive_a_restart_of_the_broker_with_their_generation(checkpoint):
    coordinator = Coordinator()
    ids = coordinator.stable_group(3)
    generation_id = coordinator.state.classic[GROUP].generation_id
    coordinator.restart(checkpoint=checkpoint)
    assert [coordinator.heartbeat(id_, generation_id) for id_ in ids] == [ErrorCode.NONE] * 3
    assert coordinator.answered[coordinator.sync(ids[2], generation_id)].assignment == ids[2].encode()
    coordinator.advance(SESSION_MS)
    assert coordinator.state.classic[GROUP].is_empty


def test_a_generation_that_was_never_synced_is_unknown_after_a_restart():
    coordinator = Coordinator()
    ids = coordinator.stable_group(2)
    generation_id = coordinator.state.classic[GROUP].generation_id
    for id_ in ids:
        coordinator.join(id_)
    assert coordinator.state.classic[GROUP].generation_id == generation_id + 1
    coordinator.restart()
    assert coordinator.heartbeat(ids[0], generation_id + 1) is ErrorCode.ILLEGAL_GENERATION
    assert coordinator.rebalance(ids) == generation_id + 1
