"""Round robin: all partitions of all topics in order, dealt to members in turn; who does not subscribe is skipped."""

from fencepost.client.assignors.member import Assigned, Member, PartitionCounts, all_partitions, in_order


def assign_round_robin(members: list[Member], counts: PartitionCounts) -> Assigned:
    assigned: Assigned = {member.member_id: [] for member in members}
    table = in_order(members)
    turn = 0
    for where in all_partitions(members, counts):
        while where.topic not in table[turn % len(table)].topics:
            turn += 1
        assigned[table[turn % len(table)].member_id].append(where)
        turn += 1
    return assigned
