"""How one member of a KIP-848 group moves towards its target assignment. A pure function of values.

First the member gives up what it must, and keeps its epoch until it no longer owns it. Then it moves to the
target's epoch with what is free; what others still own follows as they release it. So a partition never has two
owners.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from fencepost.groups.consumer_group import ConsumerMember, TopicIdPartition
from fencepost.groups.states import MemberState, check_member_transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    target: frozenset[TopicIdPartition]
    target_epoch: int
    # What other members own, or have been asked to give up and not yet given up.
    owned_by_others: Set[TopicIdPartition]
    # What the member says it owns; None if it did not say.
    reported: frozenset[TopicIdPartition] | None


def reconcile(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """The member after one step; the same value if it has to wait or has arrived."""
    if member.is_reconciled_to(goal.target_epoch):
        return member
    member_epoch = member.member_epoch
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_owns(member.pending_revocation, goal.reported):
            return member
        member_epoch += 1
    stepped = _step(member, goal, member_epoch)
    check_member_transition(member.state, stepped.state)
    return stepped


def _still_owns(revoked: Mapping[TopicIdPartition, int], reported: frozenset[TopicIdPartition] | None) -> bool:
    return reported is None or bool(revoked.keys() & reported)


def _step(member: ConsumerMember, goal: Goal, member_epoch: int) -> ConsumerMember:
    kept = {partition: epoch for partition, epoch in member.assigned.items() if partition in goal.target}
    revoked = {partition: epoch for partition, epoch in member.assigned.items() if partition not in goal.target}
    if revoked and _still_owns(revoked, goal.reported):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            member_epoch=member_epoch,
            previous_member_epoch=member.member_epoch,
            assigned=kept,
            pending_revocation=revoked,
        )
    awaited = goal.target - kept.keys()
    free = awaited - goal.owned_by_others
    return replace(
        member,
        state=MemberState.STABLE if free == awaited else MemberState.UNRELEASED_PARTITIONS,
        member_epoch=goal.target_epoch,
        previous_member_epoch=member.member_epoch,
        assigned={**kept, **dict.fromkeys(sorted(free), goal.target_epoch)},
        pending_revocation={},
    )
