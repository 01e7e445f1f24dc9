"""Range: of each topic every subscriber gets a run of neighbouring partitions, the first ones one more if need be.

So that partitions of the same number of two topics with as many partitions go to the same member.
"""

from fencepost.client.assignors.member import Assigned, Member, PartitionCounts, in_order
from fencepost.types import TopicPartition


def assign_range(members: list[Member], counts: PartitionCounts) -> Assigned:
    assigned: Assigned = {member.member_id: [] for member in members}
    for topic in sorted({topic for member in members for topic in member.topics}):
        subscribers = in_order(member for member in members if topic in member.topics)
        each, more = divmod(counts.get(topic, 0), len(subscribers))
        start = 0
        for index, member in enumerate(subscribers):
            end = start + each + (index < more)
            assigned[member.member_id] += [TopicPartition(topic, partition) for partition in range(start, end)]
            start = end
    return assigned
