"""Features that this broker does not have, for the administrators' tools that ask about them.

`kafka-topics --describe` asks which partitions are being moved (ListPartitionReassignments), `kafka-configs --describe
--entity-type users` asks for quotas and for SCRAM credentials before it prints anything, `kafka-acls` shows the error
of an API about ACLs. Without an answer they would stop with UnsupportedVersionException. Not served is what only
a tool without anything to do here asks: `kafka-leader-election` and `kafka-reassign-partitions`.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from fencepost.wire.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse
from fencepost.wire.messages.describe_acls import DescribeAclsResponse
from fencepost.wire.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse
from fencepost.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from fencepost.wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse

NO_AUTHORIZER = "No Authorizer is configured."
NO_AUTHORIZER_ON_BROKER = "No Authorizer is configured on the broker"
QUOTA_ENTITY_TYPES = ("user", "client-id", "ip")
QUOTA_MATCH_TYPES = (0, 1, 2)


def list_partition_reassignments(core: BrokerCore, _call: Call) -> Outcome:
    """ListPartitionReassignments (46), version 0: partitions have nowhere to move to, so none is moving."""
    return core.reply(ListPartitionReassignmentsResponse(error_message=None))


def describe_acls(core: BrokerCore, _call: Call) -> Outcome:
    """DescribeAcls (29), versions 1 to 3: there is no authorizer, and that is the answer, as in Kafka without one."""
    return core.reply(
        DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER_ON_BROKER)
    )


def create_acls(core: BrokerCore, call: Call) -> Outcome:
    """CreateAcls (30), versions 1 to 3: refused one by one, for there is no authorizer that would heed them."""
    request: CreateAclsRequest = call.request
    results = [AclCreationResult(ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.creations]
    return core.reply(CreateAclsResponse(results=results))


def delete_acls(core: BrokerCore, call: Call) -> Outcome:
    """DeleteAcls (31), versions 1 to 3: refused filter by filter, for there is no authorizer."""
    request: DeleteAclsRequest = call.request
    results = [DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.filters]
    return core.reply(DeleteAclsResponse(filter_results=results))


def describe_client_quotas(core: BrokerCore, call: Call) -> Outcome:
    """DescribeClientQuotas (48), versions 0 and 1: no client is throttled, so no filter finds anything.

    Filters are still read, so that a mistake in one is answered.
    """
    request: DescribeClientQuotasRequest = call.request
    for component in request.components:
        if component.match_type not in QUOTA_MATCH_TYPES:
            error_code, message = ErrorCode.INVALID_REQUEST, f"Unknown match type {component.match_type}"
        elif component.entity_type not in QUOTA_ENTITY_TYPES:
            error_code, message = ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {component.entity_type}"
        else:
            continue
        return core.reply(DescribeClientQuotasResponse(error_code=error_code, error_message=message, entries=None))
    return core.reply(DescribeClientQuotasResponse())


def describe_user_scram_credentials(core: BrokerCore, call: Call) -> Outcome:
    """DescribeUserScramCredentials (50), version 0: no user has credentials. Null or no users means all: none."""
    request: DescribeUserScramCredentialsRequest = call.request
    names = [user.name for user in request.users or ()]
    results = [_describe_user(name, is_twice=names.count(name) > 1) for name in dict.fromkeys(names)]
    return core.reply(DescribeUserScramCredentialsResponse(results=results))


def _describe_user(user: str, *, is_twice: bool) -> DescribeUserScramCredentialsResult:
    if is_twice:
        message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return DescribeUserScramCredentialsResult(user, ErrorCode.DUPLICATE_RESOURCE, message)
    message = f"Attempt to describe a user credential that does not exist: {user}"
    return DescribeUserScramCredentialsResult(user, ErrorCode.RESOURCE_NOT_FOUND, message)
