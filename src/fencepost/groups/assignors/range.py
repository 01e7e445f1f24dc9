"""The range assignor: per topic, consecutive partitions to the members in order, the first ones getting one more.

Topics with the same number of partitions and the same subscribers are cut alike, so that records with equal keys meet
in one member (co-partitioning). Not sticky beyond that: the cut depends on who is there, not on who had what.
"""

from fencepost.groups.assignors.problem import AssignmentProblem, TargetAssignment
from fencepost.groups.consumer_group import TopicIdPartition


def assign_range(problem: AssignmentProblem) -> TargetAssignment:
    assigned: dict[str, list[TopicIdPartition]] = {member_id: [] for member_id in problem.member_ids}
    for topic_id, members in problem.subscribers().items():
        partitions = problem.partitions_of(topic_id)
        quota, extra = divmod(len(partitions), len(members))
        start = 0
        for position, member_id in enumerate(members):
            end = start + quota + (position < extra)
            assigned[member_id] += partitions[start:end]
            start = end
    return {member_id: frozenset(partitions) for member_id, partitions in assigned.items()}
