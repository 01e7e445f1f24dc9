"""Classic groups through the broker: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups,
DeleteGroups. The rules of rebalancing have their own tests with the room that holds them."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_groups import DeleteGroupsRequest
from fencepost.wire.messages.describe_groups import DescribeGroupsRequest
from fencepost.wire.messages.heartbeat import HeartbeatRequest
from fencepost.wire.messages.list_groups import ListGroupsRequest
from tests.unit.broker.builders import Broker, batch_of, produce_request, versions_of
from tests.unit.broker.handlers.members import (
    GROUP,
    beat,
    join,
    join_request,
    leave,
    start_joining,
    subscription,
    sync,
)


@pytest.fixture
def shop(broker: Broker) -> Broker:
    broker.create_topic("orders", 2)
    return broker


@pytest.mark.parametrize("version", versions_of("JoinGroup"))
def test_a_lone_member_leads_its_group(shop: Broker, version: int) -> None:
    joined = join(shop, version=version)
    assert (joined.generation_id, joined.leader, joined.protocol_name) == (1, joined.member_id, "range")
    (member,) = joined.members
    assert (member.member_id, bytes(member.metadata)) == (joined.member_id, subscription("orders"))


@pytest.mark.parametrize("version", versions_of("JoinGroup"))
def test_a_new_member_is_first_given_its_id_from_v4_on(shop: Broker, version: int) -> None:
    reply = shop.ask(join_request(), version)
    assert reply.error_code == (ErrorCode.MEMBER_ID_REQUIRED if version >= 4 else ErrorCode.NONE)
    assert reply.member_id.startswith("test-")


@pytest.mark.parametrize(
    ("more", "error_code"),
    [
        ({"member_id": "ghost"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"session_timeout_ms": 1}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
@pytest.mark.parametrize("version", [0, 6, 7, 9])
def test_a_join_that_makes_no_sense_is_refused(
    shop: Broker, version: int, more: dict[str, object], error_code: ErrorCode
) -> None:
    assert shop.ask(join_request(**more), version).error_code == error_code  # type: ignore[arg-type]


@pytest.mark.parametrize("version", versions_of("SyncGroup"))
def test_each_member_gets_the_part_that_the_leader_gave_it(shop: Broker, version: int) -> None:
    leader = join(shop)
    sync(shop, leader, {leader.member_id: b"all"})
    second = start_joining(shop)
    assert second.reply is None
    leader = join(shop, leader.member_id)
    follower = second.reply
    assert (follower.generation_id, follower.leader, follower.members) == (2, leader.member_id, [])
    waiting = sync(shop, follower, version=version)
    assert waiting.reply is None
    done = sync(shop, leader, {leader.member_id: b"one", follower.member_id: b"two"}, version=version)
    assert (bytes(done.reply.assignment), bytes(waiting.reply.assignment)) == (b"one", b"two")


@pytest.mark.parametrize("version", versions_of("Heartbeat"))
def test_a_heartbeat_tells_of_a_rebalance(shop: Broker, version: int) -> None:
    leader = join(shop)
    sync(shop, leader, {leader.member_id: b"all"})
    assert beat(shop, leader.member_id, 1, version=version) == ErrorCode.NONE
    start_joining(shop)
    assert beat(shop, leader.member_id, 1, version=version) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_heartbeat_does_not_wait_for_the_disk(shop: Broker) -> None:
    leader = join(shop)
    sync(shop, leader, {leader.member_id: b"all"})
    shop.send(produce_request("orders", batch_of(b"a")), 12)
    assert shop.core.has_unsynced_entries
    assert shop.send(HeartbeatRequest(GROUP, 1, leader.member_id), 4).reply.error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", versions_of("LeaveGroup"))
def test_a_member_that_leaves_is_gone(shop: Broker, version: int) -> None:
    leader = join(shop)
    assert leave(shop, leader.member_id, version=version).error_code == ErrorCode.NONE
    assert beat(shop, leader.member_id, 1) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", versions_of("LeaveGroup"))
def test_a_stranger_cannot_leave(shop: Broker, version: int) -> None:
    join(shop)
    reply = leave(shop, "ghost", version=version)
    if version < 3:
        assert reply.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    else:
        assert (reply.error_code, reply.members[0].error_code) == (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID)


def test_a_group_and_its_assignment_survive_a_kill(shop: Broker) -> None:
    leader = join(shop)
    sync(shop, leader, {leader.member_id: b"all"})
    reopened = shop.after_kill()
    assert beat(reopened, leader.member_id, 1) == ErrorCode.NONE
    assert bytes(sync(reopened, leader).reply.assignment) == b"all"


@pytest.mark.parametrize("version", versions_of("DescribeGroups"))
def test_a_group_is_described_with_its_members(shop: Broker, version: int) -> None:
    leader = join(shop)
    sync(shop, leader, {leader.member_id: b"all"})
    (group,) = shop.ask(DescribeGroupsRequest([GROUP], include_authorized_operations=True), version).groups
    assert (group.error_code, group.group_state, group.protocol_type, group.protocol_data) == (
        ErrorCode.NONE,
        "Stable",
        "consumer",
        "range",
    )
    assert [(each.client_id, bytes(each.member_assignment)) for each in group.members] == [("test", b"all")]
    assert group.authorized_operations == (3400 if version >= 3 else -(2**31))


@pytest.mark.parametrize("version", versions_of("DescribeGroups"))
def test_an_unknown_group_is_dead_and_from_v6_an_error(shop: Broker, version: int) -> None:
    (group,) = shop.ask(DescribeGroupsRequest(["nobody"]), version).groups
    assert group.group_state == "Dead"
    assert group.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else ErrorCode.NONE)


@pytest.mark.parametrize("version", versions_of("ListGroups"))
def test_groups_are_listed_with_what_the_version_can_tell(shop: Broker, version: int) -> None:
    join(shop)
    (group,) = shop.ask(ListGroupsRequest(), version).groups
    assert (group.group_id, group.protocol_type) == (GROUP, "consumer")
    assert group.group_state == ("CompletingRebalance" if version >= 4 else "")
    assert group.group_type == ("classic" if version >= 5 else "")


@pytest.mark.parametrize(
    ("states", "types", "is_listed"),
    [
        (["completingrebalance"], [], True),
        (["Empty"], [], False),
        ([], ["Classic"], True),
        ([], ["consumer"], False),
        (["CompletingRebalance", "Empty"], ["classic"], True),
        (["CompletingRebalance"], ["consumer"], False),
    ],
)
def test_filters_of_the_list_ignore_case(shop: Broker, states: list[str], types: list[str], is_listed: bool) -> None:
    join(shop)
    assert bool(shop.ask(ListGroupsRequest(states, types), 5).groups) == is_listed


@pytest.mark.parametrize("version", versions_of("DeleteGroups"))
def test_only_an_empty_group_can_be_deleted(shop: Broker, version: int) -> None:
    leader = join(shop)
    names = [GROUP, "nobody", GROUP]
    results = shop.ask(DeleteGroupsRequest(names), version).results
    assert [(each.group_id, each.error_code) for each in results] == [
        (GROUP, ErrorCode.NON_EMPTY_GROUP),
        ("nobody", ErrorCode.GROUP_ID_NOT_FOUND),
    ]
    leave(shop, leader.member_id)
    (result,) = shop.ask(DeleteGroupsRequest([GROUP]), version).results
    assert result.error_code == ErrorCode.NONE
    assert shop.after_kill().ask(ListGroupsRequest(), 5).groups == []
