"""DescribeUserScramCredentials (50), version 0: no user has credentials. Null or no users means all of them: none."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeUserScramCredentialsRequest = call.request
    names = [user.name for user in request.users or ()]
    results = [_describe(name, is_twice=names.count(name) > 1) for name in dict.fromkeys(names)]
    return core.reply(DescribeUserScramCredentialsResponse(results=results))


def _describe(user: str, *, is_twice: bool) -> DescribeUserScramCredentialsResult:
    if is_twice:
        message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return DescribeUserScramCredentialsResult(user, ErrorCode.DUPLICATE_RESOURCE, message)
    message = f"Attempt to describe a user credential that does not exist: {user}"
    return DescribeUserScramCredentialsResult(user, ErrorCode.RESOURCE_NOT_FOUND, message)
