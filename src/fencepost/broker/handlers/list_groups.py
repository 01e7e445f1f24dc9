"""ListGroups (16), versions 0 to 5: v4 filters by state, v5 by type."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups.listing import list_groups
from fencepost.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: ListGroupsRequest = call.request
    found = list_groups(core.state.groups, states_filter=request.states_filter, types_filter=request.types_filter)
    groups = [
        ListedGroup(group.group_id, group.protocol_type, group.group_state, group.group_type.lower()) for group in found
    ]
    return core.reply(ListGroupsResponse(groups=groups))
