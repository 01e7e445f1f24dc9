"""The group epoch and the target assignment of a KIP-848 group, brought up to date. Pure: values in, a value out."""

from dataclasses import replace

from fencepost.groups.assignors import ASSIGNORS, DEFAULT_ASSIGNOR
from fencepost.groups.assignors.problem import AssignmentProblem
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.topics import TopicImage, subscribed_topics, subscription_metadata


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
    """Without the member, in the next group epoch: the next heartbeat of somebody else computes the target."""
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
