"""ListOffsets (2), versions 1 to 11: the offset at a place or time in a partition.

Timestamp -1 is the latest offset (by isolation level from v2), -2 the earliest, -3 the one with the largest
timestamp (v7), -4 the earliest local one (v8), -5 the latest tiered one (v9; there is none), -6 the earliest that is
not yet tiered (v11).
"""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.fetching import check_leader_epoch
from fencepost.broker.partition_log import PartitionLog
from fencepost.errors import CorruptLog, ErrorCode
from fencepost.partition.visibility import IsolationLevel, fetch_limit
from fencepost.records.errors import InvalidRecordBatch
from fencepost.records.reader import read_records
from fencepost.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: ListOffsetsRequest = call.request
    isolation_level = IsolationLevel(request.isolation_level)
    topics = [
        ListOffsetsTopicResponse(
            topic.name,
            [_list_partition(core, topic.name, partition, isolation_level) for partition in topic.partitions],
        )
        for topic in request.topics
    ]
    return Reply(ListOffsetsResponse(topics=topics))


def _list_partition(
    core: BrokerCore, topic: str, wanted: ListOffsetsPartition, isolation_level: IsolationLevel
) -> ListOffsetsPartitionResponse:
    index = wanted.partition_index
    log = core.log(topic, index)
    if log is None:
        return ListOffsetsPartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    leader_epoch = log.state.leader_epochs.latest
    if (error_code := check_leader_epoch(wanted.current_leader_epoch, leader_epoch)) is not None:
        return ListOffsetsPartitionResponse(index, error_code)
    try:
        timestamp, offset = _find(core, log, wanted.timestamp, isolation_level)
    except (CorruptLog, InvalidRecordBatch):
        return ListOffsetsPartitionResponse(index, ErrorCode.KAFKA_STORAGE_ERROR)
    return ListOffsetsPartitionResponse(index, ErrorCode.NONE, timestamp, offset, leader_epoch if offset >= 0 else -1)


def _find(core: BrokerCore, log: PartitionLog, wanted: int, isolation_level: IsolationLevel) -> tuple[int, int]:
    """Timestamp and offset; -1 and -1 where there is none."""
    state = log.state
    limit = fetch_limit(state, isolation_level)
    if wanted == LATEST:
        return -1, limit
    if wanted in (EARLIEST, EARLIEST_LOCAL, EARLIEST_PENDING_UPLOAD):
        return -1, state.log_start_offset
    if wanted == LATEST_TIERED:
        return -1, -1
    journal, ref = core.journal, log.partition_ref
    if wanted == MAX_TIMESTAMP:
        row = journal.max_timestamp(ref, end_offset=limit)
    else:
        row = journal.offset_for_timestamp(ref, wanted, end_offset=limit)
    if row is None:
        return -1, -1
    earliest_wanted = row.max_timestamp if wanted == MAX_TIMESTAMP else wanted
    batches = journal.read(ref, row.base_offset, end_offset=limit, max_bytes=1)
    for record in read_records(batches[0]) if batches else ():
        if record.timestamp_ms >= earliest_wanted and record.offset >= state.log_start_offset:
            return record.timestamp_ms, record.offset
    return -1, -1
