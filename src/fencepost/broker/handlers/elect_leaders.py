"""ElectLeaders (43), versions 0 to 2: this broker leads every partition, so no election is ever needed.

v1 election types. Null means all partitions; then only those with an error are listed, which are none.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

PREFERRED, UNCLEAN = range(2)


def handle(core: BrokerCore, call: Call) -> Outcome:
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
