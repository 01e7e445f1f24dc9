"""CreateAcls (30), versions 1 to 3: refused one by one, for there is no authorizer that would heed them."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse

MESSAGE = "No Authorizer is configured."


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: CreateAclsRequest = call.request
    results = [AclCreationResult(ErrorCode.SECURITY_DISABLED, MESSAGE) for _ in request.creations]
    return core.reply(CreateAclsResponse(results=results))
