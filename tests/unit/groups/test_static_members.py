"""Static members (KIP-345): a restart of a client is no rebalance; two clients with one instance id are kept apart."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol as Protocol
from fencepost.wire.messages.leave_group import MemberIdentity
from tests.unit.groups.coordinator import GROUP, SESSION_MS, Coordinator


def static_group(**settings: int) -> tuple[Coordinator, str, str]:
    """A stable group of two static members, `one` (the leader) and `two`."""
    coordinator = Coordinator(group_initial_rebalance_delay_ms=100, **settings)
    tokens = [coordinator.join(group_instance_id=name) for name in ("one", "two")]
    coordinator.advance(200)
    leader, follower = (coordinator.answered[token].member_id for token in tokens)
    coordinator.sync(follower, 1, group_instance_id="two")
    coordinator.sync(leader, 1, {leader: b"a", follower: b"b"}, group_instance_id="one")
    assert coordinator.state.classic[GROUP].state is ClassicGroupState.STABLE
    return coordinator, leader, follower


def test_a_static_member_joins_without_asking_for_an_id_first(coordinator):
    reply = coordinator.answered[coordinator.join(group_instance_id="one")]
    assert (reply.error_code, reply.member_id, reply.generation_id) == (ErrorCode.NONE, "one-1", 1)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_static_member_that_restarts_keeps_its_assignment_without_a_rebalance(checkpoint):
    coordinator, leader, follower = static_group()
    reply = coordinator.answered[coordinator.join(group_instance_id="two")]
    assert (reply.error_code, reply.generation_id, reply.leader) == (ErrorCode.NONE, 1, leader)
    assert reply.member_id != follower
    coordinator.restart(checkpoint=checkpoint)
    synced = coordinator.answered[coordinator.sync(reply.member_id, 1, group_instance_id="two")]
    assert synced.assignment == b"b"
    assert coordinator.heartbeat(leader, 1, group_instance_id="one") is ErrorCode.NONE


def test_a_static_leader_that_restarts_is_told_not_to_assign():
    coordinator, *_ = static_group()
    reply = coordinator.answered[coordinator.join(group_instance_id="one")]
    assert (reply.leader, reply.skip_assignment, len(reply.members)) == (reply.member_id, True, 2)


def test_a_static_leader_of_an_old_client_is_not_told_that_it_leads():
    coordinator, leader, _ = static_group()
    reply = coordinator.answered[coordinator.join(group_instance_id="one", api_version=8)]
    assert (reply.leader, reply.skip_assignment, reply.members) == (leader, False, [])
    assert coordinator.state.classic[GROUP].leader == reply.member_id


def test_a_client_that_still_uses_the_old_id_is_fenced():
    coordinator, _, follower = static_group()
    coordinator.join(group_instance_id="two")
    assert coordinator.heartbeat(follower, 1, group_instance_id="two") is ErrorCode.FENCED_INSTANCE_ID
    synced = coordinator.answered[coordinator.sync(follower, 1, group_instance_id="two")]
    assert synced.error_code == ErrorCode.FENCED_INSTANCE_ID
    joined = coordinator.answered[coordinator.join(follower, group_instance_id="two")]
    assert joined.error_code == ErrorCode.FENCED_INSTANCE_ID
    commit = {"member_id": follower, "group_instance_id": "two", "generation_id_or_member_epoch": 1}
    assert coordinator.commit(1, **commit) is ErrorCode.FENCED_INSTANCE_ID
    assert coordinator.leave(MemberIdentity(follower, "two")) == [ErrorCode.FENCED_INSTANCE_ID]


def test_parked_requests_of_the_old_id_are_answered_when_it_is_fenced():
    coordinator, leader, _ = static_group()
    parked = coordinator.join(leader, group_instance_id="one")
    assert parked not in coordinator.answered
    again = coordinator.join(group_instance_id="one")
    assert coordinator.answered[parked].error_code == ErrorCode.FENCED_INSTANCE_ID
    assert again not in coordinator.answered


def test_a_static_member_that_comes_back_while_the_leader_assigns_makes_all_join_again():
    coordinator, leader, follower = static_group()
    coordinator.join(leader, group_instance_id="one")
    coordinator.join(follower, group_instance_id="two")
    parked = coordinator.sync(follower, 2, group_instance_id="two")
    coordinator.join(group_instance_id="two")
    assert coordinator.answered[parked].error_code == ErrorCode.FENCED_INSTANCE_ID
    assert coordinator.state.classic[GROUP].state is ClassicGroupState.PREPARING_REBALANCE


def test_a_static_member_that_comes_back_with_another_protocol_starts_a_rebalance(coordinator):
    both = (Protocol("range", b""), Protocol("sticky", b""))
    first = coordinator.answered[coordinator.join(group_instance_id="one", protocols=both)]
    coordinator.sync(first.member_id, 1, group_instance_id="one")
    token = coordinator.join(group_instance_id="one", protocols=both[::-1])
    assert coordinator.answered[token].generation_id == 2
    assert coordinator.answered[token].protocol_name == "sticky"


def test_a_static_member_may_be_late_for_a_rebalance_but_not_for_its_session():
    coordinator, leader, follower = static_group()
    joined = coordinator.join(leader, group_instance_id="one", rebalance_timeout_ms=1000)
    coordinator.join(follower, group_instance_id="two", rebalance_timeout_ms=1000)
    assert coordinator.answered[joined].generation_id == 2
    coordinator.sync(follower, 2, group_instance_id="two")
    coordinator.sync(leader, 2, {}, group_instance_id="one")
    joined = coordinator.join(leader, group_instance_id="one", rebalance_timeout_ms=1000)
    coordinator.advance(1000)
    reply = coordinator.answered[joined]
    assert [member.group_instance_id for member in reply.members] == ["one", "two"]
    coordinator.advance(SESSION_MS)
    assert follower not in coordinator.state.classic[GROUP].members


def test_an_administrator_removes_a_static_member_by_its_instance_id():
    coordinator, leader, _ = static_group()
    removed = coordinator.leave(MemberIdentity("", "two"), MemberIdentity("", "nobody"), MemberIdentity("", None))
    assert removed == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID]
    assert list(coordinator.state.classic[GROUP].members) == [leader]
