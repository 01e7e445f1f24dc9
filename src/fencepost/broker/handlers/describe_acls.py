"""DescribeAcls (29), versions 1 to 3: there is no authorizer, and that is the answer, as in Kafka without one."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_acls import DescribeAclsResponse

MESSAGE = "No Authorizer is configured on the broker"


def handle(core: BrokerCore, _call: Call) -> Outcome:
    return core.reply(DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED, error_message=MESSAGE))
