"""DeleteRecords (21), versions 0 to 2: the start of a partition moves up; records before it can no longer be read.

Offset -1 means all that can be seen. The new start is journalled and survives a restart; the bytes go when the journal
is cleaned. Internal topics and topics that are only compacted are refused, as in Kafka.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.visibility import decide_delete_records
from fencepost.types import NO_OFFSET
from fencepost.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DeleteRecordsRequest = call.request
    topics = [
        DeleteRecordsTopicResult(
            topic.name, [_delete(core, call, topic.name, partition) for partition in topic.partitions]
        )
        for topic in request.topics
    ]
    return core.reply(DeleteRecordsResponse(topics=topics))


def _delete(core: BrokerCore, call: Call, topic: str, wanted: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    log = core.log(topic, wanted.partition_index)
    if log is None:
        return _refused(wanted, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic in INTERNAL_TOPICS:
        return _refused(wanted, ErrorCode.INVALID_TOPIC_EXCEPTION)
    if "delete" not in core.state.catalogue.topics[topic].settings.cleanup_policy:
        return _refused(wanted, ErrorCode.POLICY_VIOLATION)
    start_offset = decide_delete_records(log.state, wanted.offset)
    if isinstance(start_offset, Refusal):
        return _refused(wanted, start_offset.error_code)
    if start_offset > log.state.log_start_offset:
        record = {"kind": "log-start-moved", "starts": [[log.partition_ref, start_offset]]}
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return DeleteRecordsPartitionResult(wanted.partition_index, start_offset)


def _refused(wanted: DeleteRecordsPartition, error_code: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(wanted.partition_index, NO_OFFSET, error_code)
