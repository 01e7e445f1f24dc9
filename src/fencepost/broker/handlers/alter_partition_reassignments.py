"""AlterPartitionReassignments (45), versions 0 and 1: a partition can stay on this broker, and nothing else.

Null replicas cancel a reassignment, of which there is none. v1 the client may forbid a change of the replication
factor; the one copy stays one.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
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
