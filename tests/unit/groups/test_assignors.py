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


def test_range_cuts_every_topic_alike_so_equal_keys_meet():
    assignment = assign_range(problem({"a": {A, B}, "b": {A, B}}, {A: 3, B: 3}))
    for member_id in ("a", "b"):
        of_a = {each.partition for each in assignment[member_id] if each.topic_id == A}
        assert of_a == {each.partition for each in assignment[member_id] if each.topic_id == B}
    assert [len(assignment[member_id]) for member_id in ("a", "b")] == [4, 2]


def test_range_orders_static_members_by_instance_id_whatever_their_member_id():
    instances = {"zz": "1", "aa": "2"}
    assignment = assign_range(problem({"aa": {A}, "zz": {A}}, {A: 2}, instance_ids=instances))
    assert assignment["zz"] == frozenset({TopicIdPartition(A, 0)})


def test_uniform_is_still_when_nothing_changes():
    subscriptions = {"a": {A}, "b": {A, B}, "c": {B, C}}
    counts = {A: 5, B: 4, C: 3}
    once = assign_uniform(problem(subscriptions, counts))
    assert assign_uniform(problem(subscriptions, counts, once)) == once


def test_partitions_of_a_topic_that_is_gone_are_dropped():
    gone = {"a": frozenset({TopicIdPartition(B, 0), TopicIdPartition(A, 7)})}
    for assign in ASSIGNORS.values():
        assert assign(problem({"a": {A}}, {A: 1}, gone)) == {"a": frozenset({TopicIdPartition(A, 0)})}
