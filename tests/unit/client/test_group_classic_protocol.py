"""What members of a classic group tell each other, through its bytes."""

from hypothesis import given
from hypothesis import strategies as st

from fencepost.client.consumer.assignors import Member
from fencepost.client.consumer.group_classic import assign, is_cooperative, protocols, read_assignment, read_members
from fencepost.types import TopicPartition
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.join_group import JoinGroupResponseMember

names = st.text(min_size=1, max_size=8)
partitions = st.frozensets(st.builds(TopicPartition, names, st.integers(0, 2**31 - 1)), max_size=8)


@given(topics=st.frozensets(names, max_size=4), owned=partitions, generation=st.integers(-1, 2**31 - 1))
def test_a_subscription_arrives_at_the_leader_as_it_was(
    topics: frozenset[str], owned: frozenset[TopicPartition], generation: int
) -> None:
    for offered in protocols(["range", "cooperative-sticky"], topics, owned, generation):
        (found,) = read_members([JoinGroupResponseMember("m", "i", offered.metadata)])
        assert found == Member("m", topics, "i", tuple(sorted(owned)), generation)


def test_assignors_are_offered_in_the_order_of_preference() -> None:
    assert [offered.name for offered in protocols(["roundrobin", "range"], ["t"], [], -1)] == ["roundrobin", "range"]


def test_a_generation_in_user_data_counts_where_the_subscription_is_too_old_to_have_one() -> None:
    old = ConsumerProtocolSubscription(topics=["t"], user_data=(7).to_bytes(4, "big")).to_bytes(1)
    (found,) = read_members([JoinGroupResponseMember("m", None, old)])
    assert found.generation_id == 7


def test_an_assignment_arrives_at_its_member_as_it_was() -> None:
    members = [Member("x", frozenset("ab")), Member("y", frozenset("b"))]
    shared = {row.member_id: read_assignment(row.assignment) for row in assign("range", members, {"a": 1, "b": 2})}
    assert shared == {
        "x": {TopicPartition("a", 0), TopicPartition("b", 0)},
        "y": {TopicPartition("b", 1)},
    }


def test_no_assignment_is_an_empty_one() -> None:
    assert read_assignment(b"") == frozenset()


def test_partitions_are_kept_through_a_rebalance_only_if_every_assignor_plays_along() -> None:
    assert is_cooperative(["cooperative-sticky"])
    assert not is_cooperative(["range", "cooperative-sticky"])
