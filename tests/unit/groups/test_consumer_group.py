"""KIP-848: the coordinator assigns; members revoke before others receive; epochs fence."""

from uuid import UUID

import pytest

from fencepost.errors import ErrorCode
from fencepost.groups.states import ConsumerGroupState
from fencepost.wire.messages.consumer_group_heartbeat import TopicPartitions
from tests.unit.groups.coordinator import GROUP, REBALANCE_MS, Consumer, Coordinator

CONSUMER_SESSION_MS = 45_000


def group_with_topic(partition_count: int = 4, **settings: int) -> Coordinator:
    coordinator = Coordinator(**settings)
    coordinator.create_topic("purchases", partition_count)
    return coordinator


@pytest.fixture
def coordinator() -> Coordinator:
    return group_with_topic()


def consumer(coordinator: Coordinator, member_id: str, **fields: object) -> Consumer:
    return Consumer(coordinator, member_id, ("purchases",), **fields)


def settle(*consumers: Consumer) -> None:
    """Heartbeats until nothing changes any more."""
    for _ in range(20):
        before = [(each.member_epoch, each.owned) for each in consumers]
        for each in consumers:
            each.beat()
        if before == [(each.member_epoch, each.owned) for each in consumers]:
            return
    raise AssertionError("the group does not come to rest")


def group_state(coordinator: Coordinator) -> ConsumerGroupState:
    return coordinator.state.consumer[GROUP].state


def test_an_unchanged_assignment_is_not_repeated_unless_the_member_sends_everything(coordinator):
    first = consumer(coordinator, "a")
    first.beat()
    assert coordinator.beat(member_id="a", member_epoch=1).assignment is None
    full = {"rebalance_timeout_ms": 1, "subscribed_topic_names": ("purchases",), "topic_partitions": first.reported()}
    assert coordinator.beat(member_id="a", member_epoch=1, **full).assignment is not None


def test_a_quiet_heartbeat_writes_nothing(coordinator):
    consumer(coordinator, "a").beat()
    records = len(coordinator.log)
    coordinator.beat(member_id="a", member_epoch=1)
    assert len(coordinator.log) == records


def test_a_member_that_does_not_revoke_in_time_is_fenced_although_it_sends_heartbeats(coordinator):
    first, second = consumer(coordinator, "a"), consumer(coordinator, "b")
    first.beat()
    second.beat()
    stubborn = {"member_id": "a", "member_epoch": 1}
    for _ in range(REBALANCE_MS // 5000):
        assert coordinator.beat(**stubborn).error_code == ErrorCode.NONE
        coordinator.advance(5000)
        second.beat()
    assert coordinator.beat(**stubborn).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    settle(second)
    assert second.partitions == [0, 1, 2, 3]


def test_a_fenced_member_joins_again_under_its_id_and_gets_its_partitions_back(coordinator):
    first, second, third = (consumer(coordinator, name) for name in "abc")
    settle(first)
    settle(first, second)
    settle(first, second, third)
    owned = first.owned
    for member_epoch in (1, 4):
        fenced = first.beat(member_epoch=member_epoch)
        assert fenced.error_code == ErrorCode.FENCED_MEMBER_EPOCH
        assert str(member_epoch) in (fenced.error_message or "")
    first.member_epoch, first.owned = 0, frozenset()
    reply = first.beat()
    assert (reply.error_code, reply.member_epoch, first.owned) == (ErrorCode.NONE, 3, owned)
    assert group_state(coordinator) is ConsumerGroupState.STABLE


def test_a_member_that_joins_again_while_it_should_revoke_has_revoked(coordinator):
    first, second = consumer(coordinator, "a"), consumer(coordinator, "b")
    first.beat()
    second.beat()
    coordinator.beat(member_id="a", member_epoch=1)
    first.member_epoch, first.owned = 0, frozenset()
    assert first.beat().member_epoch == 2
    second.beat()
    assert (len(first.partitions), len(second.partitions)) == (2, 2)


def test_a_member_whose_answer_was_lost_may_repeat_its_last_epoch(coordinator):
    first, second = consumer(coordinator, "a"), consumer(coordinator, "b")
    settle(first)
    settle(first, second)
    assert first.beat(member_epoch=1).member_epoch == 2
    unknown = [TopicPartitions(UUID(int=5), [0])]
    assert first.beat(member_epoch=1, topic_partitions=unknown).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert first.beat(member_epoch=1, topic_partitions=None).error_code == ErrorCode.FENCED_MEMBER_EPOCH


def test_a_member_that_reports_other_partitions_than_it_should_have_is_told_again():
    coordinator = group_with_topic(2)
    first = consumer(coordinator, "a")
    first.beat()
    coordinator.create_topic("purchases", 3)
    lost = coordinator.beat(member_id="a", member_epoch=1, topic_partitions=first.reported())
    assert lost.member_epoch == 2
    assert first.beat().assignment is not None
    assert first.partitions == [0, 1, 2]


def test_new_topics_and_partitions_reach_the_members():
    coordinator = group_with_topic(2)
    first = Consumer(coordinator, "a", ("purchases", "returns"))
    first.beat()
    assert len(first.owned) == 2
    coordinator.create_topic("returns", 1)
    first.beat()
    assert len(first.owned) == 3
    coordinator.create_topic("purchases", 5)
    first.beat()
    assert len(first.owned) == 6
    coordinator.delete_topic("purchases")
    settle(first)
    assert len(first.owned) == 1


def test_a_member_may_change_its_subscription():
    coordinator = group_with_topic(2)
    coordinator.create_topic("returns", 1)
    first = consumer(coordinator, "a")
    first.beat()
    first.beat(subscribed_topic_names=("returns",))
    settle(first)
    assert {topic_id for topic_id, _ in first.owned} == {coordinator.topics.topics["returns"].topic_id}


def test_a_regular_expression_names_whole_topics_now_and_later():
    coordinator = Coordinator()
    for name in ("orders-eu", "orders-us", "old-orders-eu", "__consumer_offsets"):
        coordinator.create_topic(name, 1)
    first = Consumer(coordinator, "a", (), subscribed_topic_regex="orders-.*|__.*", subscribed_topic_names=None)
    first.beat()
    ids = {name: topic.topic_id for name, topic in coordinator.topics.topics.items()}
    assert {topic_id for topic_id, _ in first.owned} == {ids["orders-eu"], ids["orders-us"]}
    coordinator.create_topic("orders-asia", 2)
    first.beat()
    assert len(first.owned) == 4
    first.beat(subscribed_topic_regex="", subscribed_topic_names=("old-orders-eu",))
    settle(first)
    assert {topic_id for topic_id, _ in first.owned} == {ids["old-orders-eu"]}


def test_a_bad_regular_expression_is_refused():
    for regex in ("(", "*", "a" * 20_000):
        reply = Coordinator().beat(
            member_id="a", rebalance_timeout_ms=1, topic_partitions=(), subscribed_topic_regex=regex
        )
        assert reply.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_hostile_regular_expression_costs_no_time():
    coordinator = Coordinator()
    coordinator.create_topic("a" * 249, 1)
    first = Consumer(coordinator, "a", (), subscribed_topic_regex="(a|a|aa)*(a*)*(.*a){20}b")
    assert first.beat().error_code == ErrorCode.NONE
    assert first.owned == frozenset()


@pytest.mark.parametrize(
    "fields",
    [
        {"instance_id": ""},
        {"rack_id": ""},
        {"topic_partitions": [TopicPartitions(UUID(int=1), [0])]},
        {"member_epoch": -2},
    ],
)
def test_an_incomplete_request_is_refused(fields):
    join = {"member_id": "a", "rebalance_timeout_ms": 1, "topic_partitions": (), "subscribed_topic_names": ("t",)}
    reply = Coordinator().beat(**{**join, **fields})
    assert reply.error_code == ErrorCode.INVALID_REQUEST
    assert reply.error_message


def test_a_full_group_turns_the_next_member_away():
    coordinator = group_with_topic(group_consumer_max_size=1)
    first = consumer(coordinator, "a")
    first.beat()
    assert consumer(coordinator, "b").beat().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert first.beat().error_code == ErrorCode.NONE


def test_a_member_cannot_leave_no_group():
    assert Coordinator().beat(member_id="a", member_epoch=-1).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_one_group_too_many_is_refused():
    coordinator = group_with_topic(groups_max=1)
    consumer(coordinator, "a").beat()
    reply = consumer(coordinator, "b").beat(group_id="other")
    assert reply.error_code == ErrorCode.POLICY_VIOLATION


def test_a_static_member_that_restarts_gets_its_partitions_back_and_no_other_member_moves(coordinator):
    first, second = consumer(coordinator, "a", instance_id="one"), consumer(coordinator, "b")
    settle(first, second)
    owned, group_epoch = first.owned, coordinator.state.consumer[GROUP].group_epoch
    assert first.leave(-2) is ErrorCode.NONE
    second.beat()
    back = consumer(coordinator, "a2", instance_id="one")
    assert back.beat().error_code == ErrorCode.NONE
    assert back.owned == owned
    assert coordinator.state.consumer[GROUP].group_epoch == group_epoch
    assert group_state(coordinator) is ConsumerGroupState.STABLE
    assert first.beat(member_epoch=1).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert back.beat(instance_id="two").error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("checkpoint", [False, True])
def test_members_survive_a_restart_of_the_broker_with_epoch_and_assignment(coordinator, checkpoint):
    first, second = consumer(coordinator, "a"), consumer(coordinator, "b", instance_id="two", rack_id="r")
    settle(first, second)
    coordinator.restart(checkpoint=checkpoint)
    assert group_state(coordinator) is ConsumerGroupState.STABLE
    records = len(coordinator.log)
    for each in (first, second):
        epoch, owned = each.member_epoch, each.owned
        assert each.beat().error_code == ErrorCode.NONE
        assert (each.member_epoch, each.owned) == (epoch, owned)
    assert len(coordinator.log) == records
    coordinator.advance(CONSUMER_SESSION_MS)
    assert group_state(coordinator) is ConsumerGroupState.EMPTY


def test_fetches_of_a_member_are_fenced_by_its_epoch_and_commits_need_version_9(coordinator):
    first = consumer(coordinator, "a")
    settle(first)
    who = {"member_id": "a", "generation_id_or_member_epoch": 1}
    assert coordinator.commit(1, **who) is ErrorCode.NONE
    assert coordinator.commit(1, **who, api_version=8) is ErrorCode.UNSUPPORTED_VERSION
    assert coordinator.fetch(member_id="a", member_epoch=1).committed_offset == 1
    assert coordinator.fetch(member_id="a", member_epoch=0).error_code == ErrorCode.STALE_MEMBER_EPOCH
    assert coordinator.fetch(member_id="b", member_epoch=1).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_transactional_commits_of_a_member_are_fenced_by_its_epoch(coordinator):
    settle(consumer(coordinator, "a"))
    assert coordinator.txn_commit(7, 1, generation_id=2, member_id="a") is ErrorCode.ILLEGAL_GENERATION
    assert coordinator.fetch(require_stable=True).error_code == ErrorCode.NONE
    assert coordinator.txn_commit(7, 1, generation_id=1, member_id="a") is ErrorCode.NONE
    assert coordinator.txn_commit(7, 1, generation_id=1, member_id="b") is ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinator.txn_commit(7, 1) is ErrorCode.NONE


def test_a_commit_of_an_older_epoch_is_taken_for_partitions_held_since(coordinator):
    first, second = consumer(coordinator, "a"), consumer(coordinator, "b")
    settle(first)
    settle(first, second)
    assert first.member_epoch == 2
    kept, given = first.partitions[0], second.partitions[0]
    late = {"member_id": "a", "generation_id_or_member_epoch": 1}
    assert coordinator.commit(1, partition=kept, **late) is ErrorCode.NONE
    assert coordinator.commit(1, partition=given, **late) is ErrorCode.STALE_MEMBER_EPOCH
    late = {"member_id": "b", "generation_id_or_member_epoch": 1}
    assert coordinator.commit(1, partition=given, **late) is ErrorCode.STALE_MEMBER_EPOCH


def test_an_empty_classic_group_becomes_a_consumer_group_and_back_with_its_offsets(coordinator):
    (member_id,) = coordinator.stable_group(1)
    coordinator.commit(42, member_id=member_id, generation_id_or_member_epoch=1)
    first = consumer(coordinator, "a")
    assert first.beat().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    coordinator.leave(member_id)
    assert first.beat().error_code == ErrorCode.NONE
    assert GROUP not in coordinator.state.classic
    assert coordinator.fetch().committed_offset == 42
    assert coordinator.answered[coordinator.join()].error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    first.leave()
    coordinator.stable_group(1)
    assert GROUP not in coordinator.state.consumer
    assert coordinator.fetch().committed_offset == 42
    coordinator.restart()
    assert coordinator.fetch().committed_offset == 42


def test_a_simple_group_becomes_a_consumer_group(coordinator):
    coordinator.commit(42)
    assert consumer(coordinator, "a").beat().error_code == ErrorCode.NONE
    assert coordinator.fetch().committed_offset == 42


def test_offsets_of_topics_that_a_consumer_group_consumes_stay(coordinator):
    settle(consumer(coordinator, "a"))
    coordinator.commit(1, member_id="a", generation_id_or_member_epoch=1)
    assert coordinator.delete_offset() is ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    coordinator.now = coordinator.now._replace(wall_ms=coordinator.now.wall_ms + 10**10)
    assert coordinator.expire() == 0
