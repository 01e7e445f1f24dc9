"""Assignors: every partition once, balanced, and moving no more than it must."""

from uuid import UUID

from fencepost.groups.assignors import ASSIGNORS, AssignmentProblem, TargetAssignment, assign_range, assign_uniform
from fencepost.groups.consumer_group import TopicIdPartition

A, B, C = UUID(int=1), UUID(int=2), UUID(int=3)


def problem(
    subscriptions: dict[str, set[UUID]],
    counts: dict[UUID, int],
    current: TargetAssignment | None = None,
    instance_ids: dict[str, str] | None = None,
) -> AssignmentProblem:
    return AssignmentProblem(
        subscriptions={member_id: frozenset(topics) for member_id, topics in subscriptions.items()},
        instance_ids=instance_ids or {},
        partition_counts=counts,
        current=current or {},
    )


def sizes(assignment: TargetAssignment) -> list[int]:
    return sorted(len(partitions) for partitions in assignment.values())


def moved(before: TargetAssignment, after: TargetAssignment) -> int:
    return sum(len(before[member_id] - after.get(member_id, frozenset())) for member_id in before)


def test_uniform_spreads_all_topics_together():
    assignment = assign_uniform(problem({"a": {A, B}, "b": {A, B}, "c": {A, B}}, {A: 4, B: 4}))
    assert sizes(assignment) == [2, 3, 3]


def test_range_cuts_every_topic_alike_so_equal_keys_meet():
    assignment = assign_range(problem({"a": {A, B}, "b": {A, B}}, {A: 3, B: 3}))
    for member_id in ("a", "b"):
        of_a = {each.partition for each in assignment[member_id] if each.topic_id == A}
        assert of_a == {each.partition for each in assignment[member_id] if each.topic_id == B}
    assert sizes(assignment) == [2, 4]


def test_range_orders_static_members_by_instance_id_whatever_their_member_id():
    instances = {"zz": "1", "aa": "2"}
    assignment = assign_range(problem({"aa": {A}, "zz": {A}}, {A: 2}, instance_ids=instances))
    assert assignment["zz"] == frozenset({TopicIdPartition(A, 0)})


def test_uniform_moves_only_what_a_new_member_needs():
    counts = {A: 9}
    two = assign_uniform(problem({"a": {A}, "b": {A}}, counts))
    three = assign_uniform(problem({"a": {A}, "b": {A}, "c": {A}}, counts, two))
    assert sizes(three) == [3, 3, 3]
    assert moved(two, three) == 3


def test_uniform_moves_nothing_of_those_who_stay_when_a_member_leaves():
    counts = {A: 9}
    three = assign_uniform(problem({"a": {A}, "b": {A}, "c": {A}}, counts))
    two = assign_uniform(problem({"a": {A}, "b": {A}}, counts, three))
    assert sizes(two) == [4, 5]
    assert moved({"a": three["a"], "b": three["b"]}, two) == 0


def test_uniform_is_still_when_nothing_changes():
    subscriptions = {"a": {A}, "b": {A, B}, "c": {B, C}}
    counts = {A: 5, B: 4, C: 3}
    once = assign_uniform(problem(subscriptions, counts))
    assert assign_uniform(problem(subscriptions, counts, once)) == once


def test_uniform_balances_different_subscriptions_as_far_as_they_allow():
    assignment = assign_uniform(problem({"a": {A}, "b": {A, B}}, {A: 4, B: 2}))
    assert sizes(assignment) == [3, 3]
    only_one_way = assign_uniform(problem({"a": {A}, "b": {B}}, {A: 1, B: 6}))
    assert sizes(only_one_way) == [1, 6]


def test_members_without_topics_get_nothing_and_are_listed():
    for assign in ASSIGNORS.values():
        assert assign(problem({"a": set(), "b": set()}, {})) == {"a": frozenset(), "b": frozenset()}


def test_partitions_of_a_topic_that_is_gone_are_dropped():
    gone = {"a": frozenset({TopicIdPartition(B, 0), TopicIdPartition(A, 7)})}
    for assign in ASSIGNORS.values():
        assert assign(problem({"a": {A}}, {A: 1}, gone)) == {"a": frozenset({TopicIdPartition(A, 0)})}
