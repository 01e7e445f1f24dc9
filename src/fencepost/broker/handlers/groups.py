"""Group membership, and lists and descriptions of groups. The rules are in `groups/`; versions served stand here."""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.handlers.metadata import GROUP_OPERATIONS, NOT_ASKED
from fencepost.errors import ErrorCode
from fencepost.groups import listing
from fencepost.groups.classic_join import decide_join
from fencepost.groups.classic_membership import decide_heartbeat, decide_leave, decide_sync
from fencepost.groups.consumer_heartbeat import decide_consumer_heartbeat
from fencepost.groups.deletion import decide_delete_group
from fencepost.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from fencepost.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from fencepost.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from fencepost.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse


def join_group(core: BrokerCore, call: Call) -> Outcome:
    """JoinGroup (11), versions 0 to 9: become a member, and wait for the others."""
    return core.groups.answer(call, decide_join(core.state.groups, call))


def sync_group(core: BrokerCore, call: Call) -> Outcome:
    """SyncGroup (14), versions 0 to 5: the leader hands in the assignment, every member gets its part."""
    return core.groups.answer(call, decide_sync(core.state.groups, call))


def heartbeat(core: BrokerCore, call: Call) -> Outcome:
    """Heartbeat (12), versions 0 to 4: a member is alive, and learns whether a rebalance has begun.

    The answer shows nothing that is stored, so it does not wait for the disk: a slow disk must not cost a member its
    session.
    """
    outcome = core.groups.answer(call, decide_heartbeat(core.state.groups, call))
    return Reply(outcome.message) if isinstance(outcome, Reply) else outcome


def leave_group(core: BrokerCore, call: Call) -> Outcome:
    """LeaveGroup (13), versions 0 to 5: members go. Up to v2 one, from v3 several, static ones by instance id."""
    return core.groups.answer(call, decide_leave(core.state.groups, call))


def consumer_group_heartbeat(core: BrokerCore, call: Call) -> Outcome:
    """ConsumerGroupHeartbeat (68), versions 0 and 1: a member of a KIP-848 group joins, stays or leaves.

    The answer names its partitions. v1 subscriptions by regular expression, and the client makes its member id.
    """
    decision = decide_consumer_heartbeat(core.state.groups, call, topics=core.groups.topic_image())
    return core.groups.answer(call, decision)


def consumer_group_describe(core: BrokerCore, call: Call) -> Outcome:
    """ConsumerGroupDescribe (69), versions 0 and 1: KIP-848 groups with members and assignments. v1 member types."""
    request: ConsumerGroupDescribeRequest = call.request
    groups = [listing.describe_consumer_group(core.state.groups, group_id) for group_id in request.group_ids]
    for group in groups:
        group.authorized_operations = _operations(request.include_authorized_operations, group.error_code)
    return core.reply(ConsumerGroupDescribeResponse(groups=groups))


def describe_groups(core: BrokerCore, call: Call) -> Outcome:
    """DescribeGroups (15), versions 0 to 6: classic groups with their members.

    v3 authorized operations; from v6 an unknown group is an error. Differences from Kafka: a member's host is written
    without Java's leading slash.
    """
    request: DescribeGroupsRequest = call.request
    groups = [
        listing.describe_group(core.state.groups, group_id, api_version=call.api_version) for group_id in request.groups
    ]
    for group in groups:
        group.authorized_operations = _operations(request.include_authorized_operations, group.error_code)
    return core.reply(DescribeGroupsResponse(groups=groups))


def _operations(is_asked: bool, error_code: int) -> int:
    return GROUP_OPERATIONS if is_asked and not error_code else NOT_ASKED


def list_groups(core: BrokerCore, call: Call) -> Outcome:
    """ListGroups (16), versions 0 to 5: v4 filters by state, v5 by type."""
    request: ListGroupsRequest = call.request
    groups = listing.list_groups(
        core.state.groups, states_filter=request.states_filter, types_filter=request.types_filter
    )
    return core.reply(ListGroupsResponse(groups=groups))


def delete_groups(core: BrokerCore, call: Call) -> Outcome:
    """DeleteGroups (42), versions 0 to 2: empty groups go, with their offsets. A name that comes twice goes once."""
    request: DeleteGroupsRequest = call.request
    results = [
        DeletableGroupResult(group_id, _delete(core, call, group_id))
        for group_id in dict.fromkeys(request.groups_names)
    ]
    return core.reply(DeleteGroupsResponse(results=results))


def _delete(core: BrokerCore, call: Call, group_id: str) -> ErrorCode:
    decided = decide_delete_group(core.state.groups, group_id)
    if isinstance(decided, ErrorCode):
        return decided
    core.groups.run(decided, now=call.now)
    return ErrorCode.NONE
