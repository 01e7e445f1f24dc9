"""The state machines of the group coordinator as data: states, legal arrows, and what each one means.

* `ClassicGroupState`: groups whose members choose the assignment themselves (JoinGroup and SyncGroup).
* `ConsumerGroupState`: KIP-848 groups. It is derived from the group's epochs and members, never stored.
* `MemberState`: how far one member of a KIP-848 group is on its way to its target assignment. The numbers are
  persisted.

A missing arrow is a bug of ours, not a refusal. `docs/groups.md` is drawn from the tables.
"""

from collections.abc import Mapping
from enum import Enum

from fencepost.errors import invariant


class ClassicGroupState(Enum):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class ConsumerGroupState(Enum):
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class MemberState(Enum):
    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2


CLASSIC_GROUP_STATES: Mapping[ClassicGroupState, str] = {
    ClassicGroupState.EMPTY: "no members; lives on for its offsets. Joins start a rebalance; sync, heartbeat and "
    "leave are answered UNKNOWN_MEMBER_ID; commits without a generation are taken",
    ClassicGroupState.PREPARING_REBALANCE: "waits for the members to join again. Joins are parked; heartbeat and sync "
    "are answered REBALANCE_IN_PROGRESS; commits of the previous generation are taken",
    ClassicGroupState.COMPLETING_REBALANCE: "waits for the leader's assignment. Syncs are parked; heartbeats are "
    "taken; commits are answered REBALANCE_IN_PROGRESS",
    ClassicGroupState.STABLE: "every member may have its assignment. Sync answers it again; heartbeats and commits of "
    "this generation are taken; a follower that joins unchanged gets the same generation",
    ClassicGroupState.DEAD: "removed with its offsets. Everything is answered as for a group that never was",
}

CLASSIC_GROUP_TRANSITIONS: Mapping[tuple[ClassicGroupState, ClassicGroupState], str] = {
    (ClassicGroupState.EMPTY, ClassicGroupState.PREPARING_REBALANCE): "a member joins",
    (ClassicGroupState.EMPTY, ClassicGroupState.DEAD): "deleted, or its last offset expired",
    (ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.COMPLETING_REBALANCE): "all joined, or the time is up",
    (ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.EMPTY): "every member has left or expired",
    (ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.STABLE): "the leader's sync brings the assignment",
    (
        ClassicGroupState.COMPLETING_REBALANCE,
        ClassicGroupState.PREPARING_REBALANCE,
    ): "a member joins anew, leaves, expires, or does not sync in time",
    (
        ClassicGroupState.STABLE,
        ClassicGroupState.PREPARING_REBALANCE,
    ): "a member joins, changes, leaves, expires, or does not sync in time; or the leader joins again",
}

CONSUMER_GROUP_STATES: Mapping[ConsumerGroupState, str] = {
    ConsumerGroupState.EMPTY: "no members; lives on for its offsets",
    ConsumerGroupState.ASSIGNING: "the group epoch is ahead of the target assignment; the next heartbeat computes it",
    ConsumerGroupState.RECONCILING: "some member is not yet at the target assignment",
    ConsumerGroupState.STABLE: "every member holds its target assignment",
    ConsumerGroupState.DEAD: "removed with its offsets",
}

CONSUMER_GROUP_TRANSITIONS: Mapping[tuple[ConsumerGroupState, ConsumerGroupState], str] = {
    (ConsumerGroupState.EMPTY, ConsumerGroupState.STABLE): "a first member joins and gets everything at once",
    (ConsumerGroupState.EMPTY, ConsumerGroupState.DEAD): "deleted, or its last offset expired",
    (ConsumerGroupState.STABLE, ConsumerGroupState.RECONCILING): "a member or a topic comes or changes",
    (ConsumerGroupState.STABLE, ConsumerGroupState.ASSIGNING): "a member leaves or expires",
    (ConsumerGroupState.RECONCILING, ConsumerGroupState.STABLE): "the last member reaches the target",
    (ConsumerGroupState.RECONCILING, ConsumerGroupState.ASSIGNING): "a member leaves or expires",
    (ConsumerGroupState.ASSIGNING, ConsumerGroupState.RECONCILING): "a heartbeat computes the target",
    (ConsumerGroupState.ASSIGNING, ConsumerGroupState.STABLE): "a heartbeat computes the target; no other member waits",
    (ConsumerGroupState.STABLE, ConsumerGroupState.EMPTY): "the last member leaves or expires",
    (ConsumerGroupState.RECONCILING, ConsumerGroupState.EMPTY): "the last member leaves or expires",
    (ConsumerGroupState.ASSIGNING, ConsumerGroupState.EMPTY): "the last member leaves or expires",
}

MEMBER_STATES: Mapping[MemberState, str] = {
    MemberState.STABLE: "holds exactly its target assignment of its epoch",
    MemberState.UNREVOKED_PARTITIONS: "was asked to give partitions up; keeps its epoch until it no longer owns them",
    MemberState.UNRELEASED_PARTITIONS: "is at the target epoch and waits for partitions that others still own",
}

MEMBER_TRANSITIONS: Mapping[tuple[MemberState, MemberState], str] = {
    (MemberState.STABLE, MemberState.UNREVOKED_PARTITIONS): "a newer target takes partitions away",
    (MemberState.STABLE, MemberState.UNRELEASED_PARTITIONS): "a newer target gives partitions that others still own",
    (MemberState.UNREVOKED_PARTITIONS, MemberState.STABLE): "all given up; target reached",
    (MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS): "all given up; others still own some",
    (MemberState.UNRELEASED_PARTITIONS, MemberState.STABLE): "the last awaited partition became free",
    (MemberState.UNRELEASED_PARTITIONS, MemberState.UNREVOKED_PARTITIONS): "a newer target takes partitions away",
}


def check_classic_transition(before: ClassicGroupState, after: ClassicGroupState) -> None:
    invariant(
        (before, after) in CLASSIC_GROUP_TRANSITIONS,
        f"a classic group moves along a legal arrow, not {before.value} -> {after.value}",
    )


def check_member_transition(before: MemberState, after: MemberState) -> None:
    invariant(
        before is after or (before, after) in MEMBER_TRANSITIONS,
        f"a member moves along a legal arrow, not {before.name} -> {after.name}",
    )
