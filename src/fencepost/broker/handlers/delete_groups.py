"""DeleteGroups (42), versions 0 to 2: empty groups go, with their offsets. A name that comes twice is deleted once."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups.deletion import decide_delete_group
from fencepost.groups.replies import DeletedGroup
from fencepost.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DeleteGroupsRequest = call.request
    results = [_delete(core, call, group_id) for group_id in dict.fromkeys(request.groups_names)]
    return core.reply(DeleteGroupsResponse(results=results))


def _delete(core: BrokerCore, call: Call, group_id: str) -> DeletableGroupResult:
    decision = decide_delete_group(core.state.groups, group_id, token=call)
    core.groups.run(decision, now=call.now, asked_by=call)
    reply = decision.reply_to(call)
    assert isinstance(reply, DeletedGroup)
    return DeletableGroupResult(group_id, reply.error_code)
