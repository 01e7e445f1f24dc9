"""Assignors: Kafka's own results for range and round robin; balance, stickiness and safe hand-over for sticky."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.client.consumer.assignors import (
    ASSIGN,
    Member,
    assign_cooperative_sticky,
    assign_range,
    assign_round_robin,
    assign_sticky,
    believed_owners,
)
from fencepost.types import TopicPartition


def member(name: str, *topics: str, owned: str = "", generation: int = -1, instance: str | None = None) -> Member:
    return Member(name, frozenset(topics), instance, tuple(parts(owned)), generation)


def parts(text: str) -> list[TopicPartition]:
    """`a0 b2` as partitions."""
    return [TopicPartition(word[0], int(word[1:])) for word in text.split()]


def shown(assigned: dict[str, list[TopicPartition]]) -> dict[str, str]:
    return {name: " ".join(f"{topic}{index}" for topic, index in found) for name, found in assigned.items()}


def test_range_gives_neighbours_and_the_first_members_one_more() -> None:
    members = [member("y", "a", "b"), member("x", "a", "b")]
    assert shown(assign_range(members, {"a": 3, "b": 3})) == {"x": "a0 a1 b0 b1", "y": "a2 b2"}


def test_range_leaves_members_without_when_there_are_too_few_partitions() -> None:
    assert shown(assign_range([member("x", "a"), member("y", "a")], {"a": 1})) == {"x": "a0", "y": ""}


def test_range_looks_at_each_topics_subscribers() -> None:
    members = [member("x", "a"), member("y", "a", "b"), member("z", "a")]
    assert shown(assign_range(members, {"a": 3, "b": 2})) == {"x": "a0", "y": "a1 b0 b1", "z": "a2"}


def test_static_members_are_served_in_the_order_of_their_instance_ids() -> None:
    members = [member("x", "a", instance="2"), member("y", "a", instance="1"), member("b", "a")]
    assert shown(assign_range(members, {"a": 3})) == {"y": "a0", "x": "a1", "b": "a2"}


def test_round_robin_deals_all_topics_in_turn() -> None:
    members = [member("x", "a", "b"), member("y", "a", "b")]
    assert shown(assign_round_robin(members, {"a": 3, "b": 3})) == {"x": "a0 a2 b1", "y": "a1 b0 b2"}


def test_round_robin_skips_who_does_not_subscribe() -> None:
    """The example of Kafka's documentation: three members with one, two and three topics."""
    members = [member("x", "a"), member("y", "a", "b"), member("z", "a", "b", "c")]
    counts = {"a": 1, "b": 2, "c": 3}
    assert shown(assign_round_robin(members, counts)) == {"x": "a0", "y": "b0", "z": "b1 c0 c1 c2"}


def test_a_topic_that_does_not_exist_is_nobodys() -> None:
    for assign in ASSIGN.values():
        assert shown(assign([member("x", "a", "gone")], {"a": 1})) == {"x": "a0"}


def test_sticky_keeps_what_members_have_and_moves_only_the_surplus() -> None:
    members = [
        member("x", "a", owned="a0 a1 a2 a3", generation=1),
        member("y", "a", owned="a4 a5", generation=1),
        member("z", "a"),
    ]
    owners = believed_owners(members, {"a": 6})
    assert shown(assign_sticky(members, {"a": 6}, owners)) == {"x": "a0 a1", "y": "a4 a5", "z": "a2 a3"}


def test_what_changes_hands_is_given_to_nobody_before_its_owner_has_given_it_up() -> None:
    members = [member("x", "a", owned="a0 a1 a2 a3", generation=1), member("y", "a")]
    assert shown(assign_cooperative_sticky(members, {"a": 4})) == {"x": "a0 a1", "y": ""}
    again = [member("x", "a", owned="a0 a1", generation=2), member("y", "a", generation=2)]
    assert shown(assign_cooperative_sticky(again, {"a": 4})) == {"x": "a0 a1", "y": "a2 a3"}


def test_claims_of_an_earlier_generation_and_double_claims_are_not_believed() -> None:
    members = [
        member("x", "a", owned="a0 a1", generation=5),
        member("y", "a", owned="a1 a2", generation=5),
        member("z", "a", owned="a3", generation=4),
    ]
    assert believed_owners(members, {"a": 4}) == {TopicPartition("a", 0): "x", TopicPartition("a", 2): "y"}


members_strategy = st.lists(
    st.builds(
        Member,
        member_id=st.text("xyzw", min_size=1, max_size=3),
        topics=st.frozensets(st.sampled_from("abcd"), max_size=4),
        group_instance_id=st.none() | st.text("123", min_size=1, max_size=2),
        owned=st.lists(
            st.builds(TopicPartition, st.sampled_from("abcde"), st.integers(0, 7)), max_size=8, unique=True
        ).map(tuple),
        generation_id=st.integers(-1, 3),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda it: it.member_id,
)
counts_strategy = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 6))


@settings(deadline=None, max_examples=300)
@given(members_strategy, counts_strategy, st.sampled_from(["range", "roundrobin", "sticky"]))
def test_every_partition_that_somebody_wants_has_exactly_one_owner_who_wants_it(
    members: list[Member], counts: dict[str, int], name: str
) -> None:
    if name == "sticky":
        assigned = assign_sticky(members, counts, believed_owners(members, counts))
    else:
        assigned = ASSIGN[name](members, counts)
    topics = {topic for it in members for topic in it.topics}
    everything = sorted(where for found in assigned.values() for where in found)
    assert everything == sorted(TopicPartition(t, i) for t in topics for i in range(counts.get(t, 0)))
    assert set(assigned) == {it.member_id for it in members}
    for it in members:
        assert {where.topic for where in assigned[it.member_id]} <= it.topics


@settings(deadline=None, max_examples=300)
@given(members_strategy, counts_strategy)
def test_sticky_is_balanced_and_repeats_itself(members: list[Member], counts: dict[str, int]) -> None:
    assigned = assign_sticky(members, counts, believed_owners(members, counts))
    topics = {it.member_id: it.topics for it in members}
    for giver, found in assigned.items():
        for taker in assigned:
            if any(where.topic in topics[taker] for where in found):
                assert len(assigned[taker]) + 2 > len(found), f"{giver} could give {taker} one"
    settled = [it._replace(owned=tuple(assigned[it.member_id]), generation_id=9) for it in members]
    assert assign_cooperative_sticky(settled, counts) == assigned


@settings(deadline=None, max_examples=200)
@given(members_strategy, counts_strategy)
def test_two_rounds_of_cooperation_settle_everything(members: list[Member], counts: dict[str, int]) -> None:
    """In no round is a partition given to one member while another still holds it."""
    for generation in range(2):
        owners = believed_owners(members, counts)
        assigned = assign_cooperative_sticky(members, counts)
        for member_id, found in assigned.items():
            assert all(owners.get(where, member_id) == member_id for where in found)
        members = [it._replace(owned=tuple(assigned[it.member_id]), generation_id=generation + 10) for it in members]
    assert sorted(w for it in members for w in it.owned) == sorted(
        where for found in assign_sticky(members, counts, believed_owners(members, counts)).values() for where in found
    )
