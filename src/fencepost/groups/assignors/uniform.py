"""The uniform assignor: all partitions of all topics spread evenly, moving as few as it can.

With equal subscriptions (the usual case) member sizes differ by one at most, and only what exceeds a member's share
moves. With different ones, partitions start where they are, homeless ones go to the least loaded subscriber, and then
single partitions move from heavier to lighter members until no move helps.
"""

from fencepost.groups.assignors.problem import AssignmentProblem, TargetAssignment
from fencepost.groups.consumer_group import TopicIdPartition


def assign_uniform(problem: AssignmentProblem) -> TargetAssignment:
    assigned = {member_id: sorted(problem.kept(member_id)) for member_id in problem.member_ids}
    if len(set(problem.subscriptions.values())) == 1:
        _assign_equal_subscriptions(problem, assigned)
    else:
        _assign_different_subscriptions(problem, assigned)
    return {member_id: frozenset(partitions) for member_id, partitions in assigned.items()}


def _homeless(problem: AssignmentProblem, assigned: dict[str, list[TopicIdPartition]]) -> list[TopicIdPartition]:
    taken = {each for partitions in assigned.values() for each in partitions}
    every = (each for topic_id in problem.subscribers() for each in problem.partitions_of(topic_id))
    return sorted(each for each in every if each not in taken)


def _assign_equal_subscriptions(problem: AssignmentProblem, assigned: dict[str, list[TopicIdPartition]]) -> None:
    total = sum(problem.partition_counts[topic_id] for topic_id in problem.subscribers())
    quota, extra = divmod(total, len(assigned))
    # The members with most keep one more than the others: nothing moves that need not.
    by_size = sorted(assigned, key=lambda member_id: -len(assigned[member_id]))
    shares = {member_id: quota + (position < extra) for position, member_id in enumerate(by_size)}
    for member_id, partitions in assigned.items():
        del partitions[shares[member_id] :]
    homeless = iter(_homeless(problem, assigned))
    for member_id, partitions in assigned.items():
        while len(partitions) < shares[member_id]:
            partitions.append(next(homeless))


def _assign_different_subscriptions(problem: AssignmentProblem, assigned: dict[str, list[TopicIdPartition]]) -> None:
    subscribers = problem.subscribers()
    # Topics with few subscribers first: later ones have more choice left.
    homeless = sorted(_homeless(problem, assigned), key=lambda each: (len(subscribers[each.topic_id]), each))
    for partition in homeless:
        lightest = min(subscribers[partition.topic_id], key=lambda member_id: len(assigned[member_id]))
        assigned[lightest].append(partition)
    while any(_move_one(problem, assigned, heavy) for heavy in _by_size(assigned)[::-1]):
        pass


def _move_one(problem: AssignmentProblem, assigned: dict[str, list[TopicIdPartition]], heavy: str) -> bool:
    """Move one partition to a member with at least two fewer. Each move lowers the sum of squares, so this ends."""
    for light in _by_size(assigned):
        if len(assigned[light]) + 2 > len(assigned[heavy]):
            return False
        for partition in assigned[heavy]:
            if partition.topic_id in problem.subscriptions[light]:
                assigned[heavy].remove(partition)
                assigned[light].append(partition)
                return True
    return False


def _by_size(assigned: dict[str, list[TopicIdPartition]]) -> list[str]:
    return sorted(assigned, key=lambda member_id: len(assigned[member_id]))
