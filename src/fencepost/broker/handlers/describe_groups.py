"""DescribeGroups (15), versions 0 to 6: classic groups with their members. v3 authorized operations; from v6 an unknown
group is an error.

Differences from Kafka: a member's host is written without Java's leading slash.
"""

from fencepost.broker.authorized_operations import GROUP_OPERATIONS, NOT_ASKED
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
    operations = GROUP_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    groups = [describe_group(core.state.groups, group_id, api_version=call.api_version) for group_id in request.groups]
    return core.reply(DescribeGroupsResponse(groups=[_to_wire(group, operations) for group in groups]))


def _to_wire(group: replies.DescribedGroup, operations: int) -> DescribedGroup:
    return DescribedGroup(
        error_code=group.error_code,
        error_message=group.error_message,
        group_id=group.group_id,
        group_state=group.group_state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_data,
        members=[DescribedGroupMember(*member) for member in group.members],
        authorized_operations=NOT_ASKED if group.error_code else operations,
    )
