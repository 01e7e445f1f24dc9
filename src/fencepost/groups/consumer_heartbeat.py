"""ConsumerGroupHeartbeat (KIP-848), all versions: join, stay, leave, and learn what to consume.

Each heartbeat may change the member, then the group epoch, then the target assignment, then the member's own
assignment by one step. Everything that changes is a record; deadlines are memory. A group with members of the
classic protocol is refused: Fencepost does not convert groups with members.

A member first gives up what it must, and keeps its epoch until it no longer owns it. Then it moves to the target's
epoch with what is free; what others still own follows as they release it. So a partition never has two owners.
"""

from collections.abc import Mapping
from dataclasses import replace

from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.assignors import TopicImage, refresh_subscriptions, refresh_target, remove_member
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.consumer_group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    NO_PARTITIONS,
    STATIC_LEAVE_EPOCH,
    ConsumerGroup,
    ConsumerMember,
    ConsumerTimers,
    TopicIdPartition,
)
from fencepost.groups.consumer_membership import check_request, find_joining, find_known, reported_partitions
from fencepost.groups.consumer_records import by_topic, records_between
from fencepost.groups.decision import Call, Decision, Reply, answer
from fencepost.groups.deletion import group_tombstones
from fencepost.groups.state import GroupsState
from fencepost.groups.states import MemberState, check_member_transition
from fencepost.types import Now
from fencepost.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)


def decide_consumer_heartbeat(state: GroupsState, call: Call, *, topics: TopicImage) -> Decision:
    request: ConsumerGroupHeartbeatRequest = call.request
    decided: Decision | Refusal | None = check_request(request, call.api_version)
    if decided is None:
        is_leaving = request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH)
        decided = _leave(state, call) if is_leaving else _beat(state, call, topics)
    if isinstance(decided, Decision):
        return decided
    return answer(call, ConsumerGroupHeartbeatResponse(error_code=decided.error_code, error_message=decided.message))


def _beat(state: GroupsState, call: Call, topics: TopicImage) -> Decision | Refusal:
    request: ConsumerGroupHeartbeatRequest = call.request
    before = _find_group(state, request)
    if isinstance(before, Refusal):
        return before
    if not request.member_id:
        request = replace(request, member_id=state.new_member_id(call.client_id))
    find = find_joining if request.member_epoch == JOIN_EPOCH else find_known
    member = find(before, request)
    if isinstance(member, Refusal):
        return member
    timers = state.timers_of(request.group_id)
    updated = _update(member, request, call)
    group = _put(before, updated)
    is_changed = updated.member_id not in before.members and _owner_id(before, updated) is None
    is_changed = is_changed or _subscription(updated) != _subscription(member)
    if is_changed or timers.topics_version != topics.version:
        group = refresh_subscriptions(group, topics, is_changed=is_changed)
    group = refresh_target(group)
    reconciled = _reconcile(group, updated, reported_partitions(request))
    group = replace(group, members={**group.members, reconciled.member_id: reconciled})

    response = ConsumerGroupHeartbeatResponse(
        member_id=reconciled.member_id,
        member_epoch=reconciled.member_epoch,
        heartbeat_interval_ms=state.settings.group_consumer_heartbeat_interval_ms,
        assignment=_assignment(reconciled) if _needs_assignment(member, reconciled, request) else None,
    )
    timers = replace(_renew(state, timers, before, reconciled, call.now), topics_version=topics.version)
    tombstones = () if request.group_id in state.consumer else group_tombstones(state, request.group_id)
    records = (*tombstones, *records_between(before, group))
    return Decision(request.group_id, records, (Reply(call, response),), memory=timers)


def _find_group(state: GroupsState, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroup | Refusal:
    """The group, or a new one in the place of an empty classic group."""
    group = state.find(request.group_id)
    is_joining = request.member_epoch == JOIN_EPOCH
    if isinstance(group, ConsumerGroup):
        size_max = state.settings.group_consumer_max_size
        if len(group.members) >= size_max and request.member_id not in group.members and is_joining:
            message = f"The consumer group has reached its maximum capacity of {size_max} members."
            return Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
        return group
    if not is_joining or (isinstance(group, ClassicGroup) and not group.is_empty):
        what = "not found" if group is None else "is not a consumer group"
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} {what}.")
    if group is None and state.is_full:
        return Refusal(ErrorCode.POLICY_VIOLATION, f"{state.settings.groups_max} groups exist (groups.max).")
    return ConsumerGroup(group_id=request.group_id)


def _update(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, call: Call) -> ConsumerMember:
    """What the request leaves out stays as it was."""
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    has_timeout = request.rebalance_timeout_ms != -1
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms if has_timeout else member.rebalance_timeout_ms,
        subscribed_topic_names=member.subscribed_topic_names if names is None else tuple(sorted(set(names))),
        subscribed_topic_regex=member.subscribed_topic_regex if regex is None else regex,
        server_assignor=member.server_assignor if request.server_assignor is None else request.server_assignor,
        client_id=call.client_id,
        client_host=call.client_host,
    )


def _subscription(member: ConsumerMember) -> tuple[tuple[str, ...], str]:
    return member.subscribed_topic_names, member.subscribed_topic_regex or ""


def _owner_id(group: ConsumerGroup, member: ConsumerMember) -> str | None:
    owner = None if member.instance_id is None else group.static_member(member.instance_id)
    return None if owner is None else owner.member_id


def _put(group: ConsumerGroup, member: ConsumerMember) -> ConsumerGroup:
    """Put the member into the group; a static member that is back takes over what its old id was meant to have."""
    old_id = _owner_id(group, member)
    if old_id is None or old_id == member.member_id:
        return replace(group, members={**group.members, member.member_id: member})
    members = {id_: other for id_, other in group.members.items() if id_ != old_id}
    target = {id_: partitions for id_, partitions in group.target.items() if id_ != old_id}
    return replace(
        group,
        members={**members, member.member_id: member},
        target={**target, member.member_id: group.target.get(old_id, NO_PARTITIONS)},
    )


def _reconcile(
    group: ConsumerGroup, member: ConsumerMember, reported: frozenset[TopicIdPartition] | None
) -> ConsumerMember:
    """The member after one step towards its target; the same value if it has to wait or has arrived.

    `reported` is what it says it owns, None if it did not say.
    """
    if member.is_reconciled_to(group.assignment_epoch):
        return member
    member_epoch = member.member_epoch
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_owns(member.pending_revocation, reported):
            return member
        member_epoch += 1
    target = group.target.get(member.member_id, NO_PARTITIONS)
    kept = {partition: epoch for partition, epoch in member.assigned.items() if partition in target}
    revoked = {partition: epoch for partition, epoch in member.assigned.items() if partition not in target}
    if revoked and _still_owns(revoked, reported):
        state, assigned = MemberState.UNREVOKED_PARTITIONS, kept
    else:
        awaited = target.difference(kept)
        free = awaited - group.owned_by_others(member.member_id)
        state = MemberState.STABLE if free == awaited else MemberState.UNRELEASED_PARTITIONS
        assigned = {**kept, **dict.fromkeys(sorted(free), group.assignment_epoch)}
        revoked, member_epoch = {}, group.assignment_epoch
    check_member_transition(member.state, state)
    return replace(
        member,
        state=state,
        member_epoch=member_epoch,
        previous_member_epoch=member.member_epoch,
        assigned=assigned,
        pending_revocation=revoked,
    )


def _still_owns(revoked: Mapping[TopicIdPartition, int], reported: frozenset[TopicIdPartition] | None) -> bool:
    return reported is None or not reported.isdisjoint(revoked)


def _needs_assignment(
    member: ConsumerMember, reconciled: ConsumerMember, request: ConsumerGroupHeartbeatRequest
) -> bool:
    """Whether the reply says what to consume: on a change, or to a member that does not seem to know.

    An unsure member sends everything. Beyond Kafka, one that reports other partitions than it should have gets it
    too: the answer that said so was lost.
    """
    has_subscription = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    reported = reported_partitions(request)
    is_full = request.rebalance_timeout_ms != -1 and has_subscription and reported is not None
    is_changed = reconciled.assigned.keys() != member.assigned.keys()
    return is_changed or is_full or (reported is not None and reported != reconciled.assigned.keys())


def _assignment(member: ConsumerMember) -> Assignment:
    return Assignment([TopicPartitions(topic_id, ids) for topic_id, ids in by_topic(member.assigned)])


def _renew(
    state: GroupsState, timers: ConsumerTimers, before: ConsumerGroup, member: ConsumerMember, now: Now
) -> ConsumerTimers:
    """The session starts again; the time to revoke starts when the member is asked to, not with every heartbeat."""
    old_id = _owner_id(before, member)
    if old_id is not None and old_id != member.member_id:
        timers = timers.without(old_id)
    session_ms = state.settings.group_consumer_session_timeout_ms
    timers = timers.with_session(member.member_id, now.monotonic_ms + session_ms)
    if member.state is not MemberState.UNREVOKED_PARTITIONS:
        return timers.with_rebalance(member.member_id, None)
    known = before.members.get(member.member_id)
    is_asked_again = known is not None and known.pending_revocation == member.pending_revocation
    if is_asked_again and member.member_id in timers.rebalance_deadlines_ms:
        return timers
    return timers.with_rebalance(member.member_id, now.monotonic_ms + member.rebalance_timeout_ms)


def _leave(state: GroupsState, call: Call) -> Decision | Refusal:
    request: ConsumerGroupHeartbeatRequest = call.request
    before = state.consumer.get(request.group_id)
    if before is None:
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
    member = find_known(before, request)
    if isinstance(member, Refusal):
        return member
    timers = state.timers_of(request.group_id)
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        # It keeps its session: if it is not back by then, it goes for good.
        away = replace(member, member_epoch=STATIC_LEAVE_EPOCH, pending_revocation={})
        group = replace(before, members={**before.members, member.member_id: away})
        timers = timers.with_rebalance(member.member_id, None)
    else:
        group = remove_member(before, member.member_id)
        timers = timers.without(member.member_id)
    response = ConsumerGroupHeartbeatResponse(member_id=member.member_id, member_epoch=request.member_epoch)
    return Decision(request.group_id, records_between(before, group), (Reply(call, response),), memory=timers)
