"""DeleteAcls (31), versions 1 to 3: refused filter by filter, for there is no authorizer."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse

MESSAGE = "No Authorizer is configured."


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DeleteAclsRequest = call.request
    results = [DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, MESSAGE) for _ in request.filters]
    return core.reply(DeleteAclsResponse(filter_results=results))
