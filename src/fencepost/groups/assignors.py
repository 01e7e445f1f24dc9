"""Who of a KIP-848 group is to consume what: its topics, its group epoch, and its target assignment. All pure.

The server-side assignors have Kafka's names and are functions of an `AssignmentProblem`. Whatever the assignor, every
partition of a subscribed topic goes to exactly one member that subscribes to it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from fencepost.groups.consumer_group import (
    NO_PARTITIONS,
    ConsumerGroup,
    ConsumerMember,
    TopicIdPartition,
    TopicMetadata,
)

TargetAssignment = dict[str, frozenset[TopicIdPartition]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentProblem:
    """Who subscribes to what (existing topics only), how many partitions there are, and who has what so far.

    `current` is the previous target assignment.
    """

    subscriptions: Mapping[str, frozenset[UUID]]
    instance_ids: Mapping[str, str | None]
    partition_counts: Mapping[UUID, int]
    current: Mapping[str, frozenset[TopicIdPartition]]

    @property
    def member_ids(self) -> list[str]:
        """In an order that a restart of a client does not change: static members first, by instance id."""
        return sorted(self.subscriptions, key=self._rank)

    def _rank(self, member_id: str) -> tuple[bool, str]:
        instance_id = self.instance_ids.get(member_id)
        return (instance_id is None, member_id if instance_id is None else instance_id)

    def subscribers(self) -> dict[UUID, list[str]]:
        """The members of each topic, in order."""
        by_topic: dict[UUID, list[str]] = {}
        for member_id in self.member_ids:
            for topic_id in sorted(self.subscriptions[member_id]):
                by_topic.setdefault(topic_id, []).append(member_id)
        return by_topic

    def partitions_of(self, topic_id: UUID) -> list[TopicIdPartition]:
        return [TopicIdPartition(topic_id, index) for index in range(self.partition_counts[topic_id])]

    def kept(self, member_id: str) -> frozenset[TopicIdPartition]:
        """What the member has and may still have."""
        topics = self.subscriptions[member_id]
        current = self.current.get(member_id, NO_PARTITIONS)
        return frozenset(
            each
            for each in current
            if each.topic_id in topics and each.partition < self.partition_counts[each.topic_id]
        )


def assign_range(problem: AssignmentProblem) -> TargetAssignment:
    """Per topic, consecutive partitions to the members in order, the first ones getting one more.

    Topics with the same number of partitions and the same subscribers are cut alike, so that records with equal keys
    meet in one member (co-partitioning). Not sticky beyond that: the cut depends on who is there, not on who had what.
    """
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


def assign_uniform(problem: AssignmentProblem) -> TargetAssignment:
    """All partitions of all topics spread evenly, moving as few as it can.

    With equal subscriptions (the usual case) member sizes differ by one at most, and only what exceeds a member's
    share moves. With different ones, partitions start where they are, homeless ones go to the least loaded subscriber,
    and then single partitions move from heavier to lighter members until no move helps.
    """
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


DEFAULT_ASSIGNOR = "uniform"
REGEX_CHARACTERS_MAX = 10_000

ASSIGNORS: Mapping[str, Callable[[AssignmentProblem], TargetAssignment]] = {
    "uniform": assign_uniform,
    "range": assign_range,
}


@dataclass(frozen=True, slots=True)
class TopicImage:
    """All topics at one moment. `version` differs whenever they do. Expressions never name `internal` topics."""

    version: int
    topics: Mapping[str, TopicMetadata]
    internal: frozenset[str] = frozenset()


def is_regex_legal(regex: str) -> bool:
    return len(regex) <= REGEX_CHARACTERS_MAX and _match(regex, ["any"]) is not None


def _match(regex: str, names: list[str]) -> list[str] | None:
    """Names that the whole expression matches; None if it is not an expression.

    RE2, which comes with Arrow, is Kafka's dialect, and takes linear time whatever a client sends.
    """
    # Arrow takes a while to load, and most groups name their topics.
    import pyarrow
    import pyarrow.compute

    try:
        matches = pyarrow.compute.match_substring_regex(
            pyarrow.array(names, pyarrow.string()), rf"\A(?:{regex})\z"
        ).to_pylist()
    except pyarrow.ArrowInvalid:
        return None
    return [name for name, is_match in zip(names, matches, strict=True) if is_match]


def subscribed_topics(member: ConsumerMember, names: Iterable[str]) -> frozenset[str]:
    """Which of these topics the member consumes."""
    candidates = list(names)
    subscribed = frozenset(member.subscribed_topic_names) & frozenset(candidates)
    if member.subscribed_topic_regex:
        subscribed |= frozenset(_match(member.subscribed_topic_regex, candidates) or ())
    return subscribed


def subscription_metadata(members: Iterable[ConsumerMember], image: TopicImage) -> dict[str, TopicMetadata]:
    """Every existing topic that a member consumes."""
    named: set[str] = set()
    expressions: dict[str, None] = {}
    for member in members:
        named.update(member.subscribed_topic_names)
        if member.subscribed_topic_regex:
            expressions[member.subscribed_topic_regex] = None
    public = [name for name in image.topics if name not in image.internal]
    for regex in expressions:
        named.update(_match(regex, public) or ())
    return {name: image.topics[name] for name in sorted(named) if name in image.topics}


def refresh_subscriptions(group: ConsumerGroup, image: TopicImage, *, is_changed: bool) -> ConsumerGroup:
    """Look the topics up again; bump the group epoch if they, or the members (`is_changed`), are not what they were."""
    metadata = subscription_metadata(group.members.values(), image)
    if not is_changed and metadata == group.subscription_metadata:
        return group
    return replace(group, subscription_metadata=metadata, group_epoch=group.group_epoch + 1)


def refresh_target(group: ConsumerGroup) -> ConsumerGroup:
    """Compute the assignment of this group epoch, if that has not been done."""
    if group.group_epoch <= group.assignment_epoch or not group.members:
        return group
    topics = group.subscription_metadata
    problem = AssignmentProblem(
        subscriptions={
            member_id: frozenset(topics[name].topic_id for name in subscribed_topics(member, topics))
            for member_id, member in group.members.items()
        },
        instance_ids={member_id: member.instance_id for member_id, member in group.members.items()},
        partition_counts={topic.topic_id: topic.partition_count for topic in topics.values()},
        current=group.target,
    )
    assign = ASSIGNORS[group.preferred_assignor() or DEFAULT_ASSIGNOR]
    return replace(group, target=assign(problem), assignment_epoch=group.group_epoch)


def remove_member(group: ConsumerGroup, member_id: str) -> ConsumerGroup:
    """Without the member, in the next group epoch: the next heartbeat of another member computes the target."""
    members = {id_: member for id_, member in group.members.items() if id_ != member_id}
    target = {id_: partitions for id_, partitions in group.target.items() if id_ != member_id}
    topics = group.subscription_metadata
    still_consumed = frozenset().union(*(subscribed_topics(member, topics) for member in members.values()))
    return replace(
        group,
        members=members,
        target=target,
        subscription_metadata={name: topic for name, topic in topics.items() if name in still_consumed},
        group_epoch=group.group_epoch + 1,
    )
