"""ElectLeaders (43), versions 0 to 2: this broker leads every partition, so no election is ever needed.

v1 election types. Null means all partitions; then only those with an error are listed, which are none.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from fencepost.wire.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse
from fencepost.wire.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse
from fencepost.wire.messages.describe_acls import DescribeAclsResponse
from fencepost.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from fencepost.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from fencepost.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from fencepost.wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse

PREFERRED, UNCLEAN = range(2)


def elect_leaders(core: BrokerCore, call: Call) -> Outcome:
    request: ElectLeadersRequest = call.request
    is_legal = request.election_type in (PREFERRED, UNCLEAN)
    if request.topic_partitions is None:
        results = [ReplicaElectionResult(name) for name in core.state.catalogue.topics] if is_legal else []
    else:
        results = [
            ReplicaElectionResult(
                topic.topic,
                [
                    _not_elected(core, topic.topic, index) if is_legal else _illegal(request, index)
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions
        ]
    error_code = ErrorCode.NONE if is_legal else ErrorCode.INVALID_REQUEST
    return core.reply(ElectLeadersResponse(error_code=error_code, replica_election_results=results))


def _not_elected(core: BrokerCore, topic: str, index: int) -> PartitionResult:
    if topic not in core.state.catalogue.topics:
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic}")
    if core.log(topic, index) is None:
        return PartitionResult(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic}-{index}")
    return PartitionResult(index, ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")


def _illegal(request: ElectLeadersRequest, index: int) -> PartitionResult:
    return PartitionResult(index, ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}")


# AlterPartitionReassignments (45), versions 0 and 1: a partition can stay on this broker, and nothing else.
#
# Null replicas cancel a reassignment, of which there is none. v1 the client may forbid a change of the replication
# factor; the one copy stays one.


def alter_partition_reassignments(core: BrokerCore, call: Call) -> Outcome:
    request: AlterPartitionReassignmentsRequest = call.request
    responses = [
        ReassignableTopicResponse(topic.name, [_reassign(core, topic.name, each) for each in topic.partitions])
        for topic in request.topics
    ]
    return core.reply(
        AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=request.allow_replication_factor_change,
            error_message=None,
            responses=responses,
        )
    )


def _reassign(core: BrokerCore, topic: str, wanted: ReassignablePartition) -> ReassignablePartitionResponse:
    error_code, message = _judge(core, topic, wanted)
    return ReassignablePartitionResponse(wanted.partition_index, error_code, message)


def _judge(core: BrokerCore, topic: str, wanted: ReassignablePartition) -> tuple[ErrorCode, str | None]:
    node_id, index = core.settings.node_id, wanted.partition_index
    if topic not in core.state.catalogue.topics:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic}."
    if core.log(topic, index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic}:{index}."
    if wanted.replicas is None:
        return ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None
    if not wanted.replicas:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes an empty replica list."
    if wanted.replicas != [node_id]:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"{wanted.replicas} are not [{node_id}], the only broker there is"
    return ErrorCode.NONE, None


# ListPartitionReassignments (46), version 0: partitions have nowhere to move to, so none is moving.


def list_partition_reassignments(core: BrokerCore, _call: Call) -> Outcome:
    return core.reply(ListPartitionReassignmentsResponse(error_message=None))


# DescribeAcls (29), versions 1 to 3: there is no authorizer, and that is the answer, as in Kafka without one.


NO_AUTHORIZER_ON_BROKER = "No Authorizer is configured on the broker"


def describe_acls(core: BrokerCore, _call: Call) -> Outcome:
    return core.reply(
        DescribeAclsResponse(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER_ON_BROKER)
    )


# CreateAcls (30), versions 1 to 3: refused one by one, for there is no authorizer that would heed them.


NO_AUTHORIZER = "No Authorizer is configured."


def create_acls(core: BrokerCore, call: Call) -> Outcome:
    request: CreateAclsRequest = call.request
    results = [AclCreationResult(ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.creations]
    return core.reply(CreateAclsResponse(results=results))


# DeleteAcls (31), versions 1 to 3: refused filter by filter, for there is no authorizer.


def delete_acls(core: BrokerCore, call: Call) -> Outcome:
    request: DeleteAclsRequest = call.request
    results = [DeleteAclsFilterResult(ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.filters]
    return core.reply(DeleteAclsResponse(filter_results=results))


# DescribeClientQuotas (48), versions 0 and 1: nobody is throttled, so no filter finds anything.
#
# Filters are still read, so that a mistake in one is told.


ENTITY_TYPES = ("user", "client-id", "ip")
MATCH_EXACT, MATCH_DEFAULT, MATCH_ANY = range(3)


def describe_client_quotas(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeClientQuotasRequest = call.request
    for component in request.components:
        if (refusal := _refuse(component)) is not None:
            return core.reply(
                DescribeClientQuotasResponse(error_code=refusal.error_code, error_message=refusal.message, entries=None)
            )
    return core.reply(DescribeClientQuotasResponse())


def _refuse(component: ComponentData) -> Refusal | None:
    if component.match_type not in (MATCH_EXACT, MATCH_DEFAULT, MATCH_ANY):
        return Refusal(ErrorCode.INVALID_REQUEST, f"Unknown match type {component.match_type}")
    if component.entity_type not in ENTITY_TYPES:
        return Refusal(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {component.entity_type}")
    return None


# DescribeUserScramCredentials (50), version 0: no user has credentials. Null or no users means all of them: none.


def describe_user_scram_credentials(core: BrokerCore, call: Call) -> Outcome:
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
