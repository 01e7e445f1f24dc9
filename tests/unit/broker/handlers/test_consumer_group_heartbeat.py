"""ConsumerGroupHeartbeat and ConsumerGroupDescribe through the broker. Assignment has its own tests in its room."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fencepost.wire.messages.delete_groups import DeleteGroupsRequest
from fencepost.wire.messages.list_groups import ListGroupsRequest
from tests.unit.broker.builders import Broker, versions_of


@pytest.fixture
def shop(broker: Broker) -> Broker:
    broker.create_topic("orders", 2)
    return broker


def beat(broker: Broker, member_id: str = "one", member_epoch: int = 0, *, version: int = 1, **more: Any) -> Any:
    joining = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
    staying: dict[str, Any] = {"topic_partitions": None}
    fields = {"group_id": "billing", "member_id": member_id, "member_epoch": member_epoch}
    fields |= joining if member_epoch == 0 else staying
    return broker.ask(ConsumerGroupHeartbeatRequest(**{**fields, **more}), version)


def assigned(reply: Any) -> list[tuple[Any, list[int]]]:
    return [(topic.topic_id, topic.partitions) for topic in reply.assignment.topic_partitions]


@pytest.mark.parametrize("version", versions_of("ConsumerGroupHeartbeat"))
def test_a_lone_member_is_assigned_every_partition(shop: Broker, version: int) -> None:
    reply = beat(shop, version=version)
    assert (reply.error_code, reply.member_id, reply.heartbeat_interval_ms) == (ErrorCode.NONE, "one", 5000)
    assert assigned(reply) == [(shop.topic_id("orders"), [0, 1])]


def test_in_v0_the_broker_makes_the_member_id(shop: Broker) -> None:
    reply = beat(shop, "", version=0)
    assert reply.member_id.startswith("test-")
    assert beat(shop, "", version=1).error_code == ErrorCode.INVALID_REQUEST


def test_partitions_that_are_added_reach_the_member(shop: Broker) -> None:
    joined = beat(shop)
    shop.ask(CreatePartitionsRequest([CreatePartitionsTopic("orders", 3, None)]))
    assert assigned(beat(shop, "one", joined.member_epoch)) == [(shop.topic_id("orders"), [0, 1, 2])]


def test_a_topic_that_is_created_later_is_matched_by_the_expression(shop: Broker) -> None:
    joined = beat(shop, subscribed_topic_names=None, subscribed_topic_regex="ord.*|ship.*")
    shop.create_topic("shipments")
    topics = {topic_id for topic_id, _ in assigned(beat(shop, "one", joined.member_epoch))}
    assert topics == {shop.topic_id("orders"), shop.topic_id("shipments")}


@pytest.mark.parametrize(
    ("member_id", "member_epoch", "more", "error_code"),
    [
        ("ghost", 3, {}, ErrorCode.UNKNOWN_MEMBER_ID),
        ("one", 99, {}, ErrorCode.FENCED_MEMBER_EPOCH),
        ("one", 0, {"group_id": ""}, ErrorCode.INVALID_REQUEST),
        ("one", 0, {"server_assignor": "magic"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ("one", 0, {"subscribed_topic_regex": "["}, ErrorCode.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_a_heartbeat_that_makes_no_sense_is_refused_with_a_reason(
    shop: Broker, member_id: str, member_epoch: int, more: dict[str, Any], error_code: ErrorCode
) -> None:
    beat(shop)
    reply = beat(shop, member_id, member_epoch, **more)
    assert reply.error_code == error_code
    assert reply.error_message


def test_members_and_epochs_survive_a_kill(shop: Broker) -> None:
    joined = beat(shop)
    assert beat(shop.after_kill(), "one", joined.member_epoch).error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", versions_of("ConsumerGroupDescribe"))
def test_a_group_is_described_with_members_and_assignments(shop: Broker, version: int) -> None:
    joined = beat(shop)
    request = ConsumerGroupDescribeRequest(["billing"], include_authorized_operations=True)
    (group,) = shop.ask(request, version).groups
    assert (group.error_code, group.group_state, group.assignor_name) == (ErrorCode.NONE, "Stable", "uniform")
    assert group.authorized_operations == 3400
    (member,) = group.members
    assert (member.member_id, member.member_epoch, member.subscribed_topic_names) == (
        "one",
        joined.member_epoch,
        ["orders"],
    )
    assert [(each.topic_name, each.partitions) for each in member.assignment.topic_partitions] == [("orders", [0, 1])]
    assert member.member_type == (1 if version >= 1 else -1)


@pytest.mark.parametrize("version", versions_of("ConsumerGroupDescribe"))
def test_unknown_groups_are_not_described(shop: Broker, version: int) -> None:
    unknown, nameless = shop.ask(ConsumerGroupDescribeRequest(["nobody", ""]), version).groups
    assert unknown.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert nameless.error_code == ErrorCode.INVALID_GROUP_ID


def test_a_group_that_all_members_have_left_can_be_deleted(shop: Broker) -> None:
    beat(shop)
    (listed,) = shop.ask(ListGroupsRequest(), 5).groups
    assert (listed.group_type, listed.protocol_type, listed.group_state) == ("consumer", "consumer", "Stable")
    assert shop.ask(DeleteGroupsRequest(["billing"])).results[0].error_code == ErrorCode.NON_EMPTY_GROUP
    assert beat(shop, "one", -1).member_epoch == -1
    assert shop.ask(DeleteGroupsRequest(["billing"])).results[0].error_code == ErrorCode.NONE
    assert shop.after_kill().ask(ListGroupsRequest(), 5).groups == []
