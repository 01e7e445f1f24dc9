"""DescribeGroups (15), versions 0 to 6: classic groups with their members. From v6 an unknown group is an error."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups import replies
from fencepost.groups.listing import describe_group
from fencepost.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeGroupsRequest = call.request
    groups = [describe_group(core.state.groups, group_id, api_version=call.api_version) for group_id in request.groups]
    return core.reply(DescribeGroupsResponse(groups=[_to_wire(group) for group in groups]))


def _to_wire(group: replies.DescribedGroup) -> DescribedGroup:
    return DescribedGroup(
        error_code=group.error_code,
        error_message=group.error_message,
        group_id=group.group_id,
        group_state=group.group_state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_data,
        members=[DescribedGroupMember(*member) for member in group.members],
        authorized_operations=group.authorized_operations,
    )
