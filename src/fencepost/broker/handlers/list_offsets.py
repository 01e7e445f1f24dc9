"""Offsets of a partition that a client looks for: by a place or a time in it, or by the end of a leader epoch."""

from collections import Counter

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.fetching import check_leader_epoch
from fencepost.broker.partition_log import PartitionLog
from fencepost.errors import CorruptLog, ErrorCode
from fencepost.partition.partition import LEADER_EPOCH
from fencepost.partition.visibility import IsolationLevel, fetch_limit
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch
from fencepost.types import OffsetRange
from fencepost.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from fencepost.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
SINCE_VERSION = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
NOT_FOUND = (-1, -1)


def list_offsets(core: BrokerCore, call: Call) -> Outcome:
    """ListOffsets (2), versions 1 to 11: the offset at a place or time in a partition.

    Timestamp -1 is the latest offset (by isolation level from v2), -2 the earliest, -3 the one with the largest
    timestamp (v7), -4 the earliest local one (v8), -5 the latest tiered one (v9) and -6 the earliest that is not yet
    tiered (v11): there is no tiered storage, so there is neither. A partition may be asked about once.
    Differences from Kafka: records before the log's start are never found, not even by -3.
    """
    request: ListOffsetsRequest = call.request
    asked = Counter((topic.name, each.partition_index) for topic in request.topics for each in topic.partitions)
    topics = []
    for topic in request.topics:
        partitions = []
        for wanted in topic.partitions:
            is_twice = asked[topic.name, wanted.partition_index] > 1
            refused = _refuse(call, wanted, is_twice=is_twice)
            partitions.append(refused or _list_partition(core, topic.name, wanted, request.isolation_level))
        topics.append(ListOffsetsTopicResponse(topic.name, partitions))
    return Reply(ListOffsetsResponse(topics=topics))


def _refuse(call: Call, wanted: ListOffsetsPartition, *, is_twice: bool) -> ListOffsetsPartitionResponse | None:
    index, timestamp = wanted.partition_index, wanted.timestamp
    if is_twice or call.request.isolation_level not in tuple(IsolationLevel):
        return ListOffsetsPartitionResponse(index, ErrorCode.INVALID_REQUEST)
    if timestamp < 0 and call.api_version < SINCE_VERSION.get(timestamp, call.api_version + 1):
        return ListOffsetsPartitionResponse(index, ErrorCode.UNSUPPORTED_VERSION)
    return None


def _list_partition(
    core: BrokerCore, topic: str, wanted: ListOffsetsPartition, isolation_level: int
) -> ListOffsetsPartitionResponse:
    index = wanted.partition_index
    log = core.log(topic, index)
    if log is None:
        return ListOffsetsPartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if (error_code := check_leader_epoch(wanted.current_leader_epoch)) is not None:
        return ListOffsetsPartitionResponse(index, error_code)
    try:
        timestamp, offset = _find(core, log, wanted.timestamp, IsolationLevel(isolation_level))
    except (CorruptLog, InvalidRecordBatch):
        return ListOffsetsPartitionResponse(index, ErrorCode.KAFKA_STORAGE_ERROR)
    return ListOffsetsPartitionResponse(index, ErrorCode.NONE, timestamp, offset, LEADER_EPOCH if offset >= 0 else -1)


def _find(core: BrokerCore, log: PartitionLog, wanted: int, isolation_level: IsolationLevel) -> tuple[int, int]:
    """Timestamp and offset."""
    limit = fetch_limit(log.state, isolation_level)
    if wanted == LATEST:
        return -1, limit
    if wanted in (EARLIEST, EARLIEST_LOCAL):
        return -1, log.state.log_start_offset
    if wanted in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NOT_FOUND
    return _find_by_time(core, log, wanted, OffsetRange(log.state.log_start_offset, limit))


def _find_by_time(core: BrokerCore, log: PartitionLog, wanted: int, offsets: OffsetRange) -> tuple[int, int]:
    """The first record of that time or later. A batch that the log's start cuts in two may have lost its late ones, so
    the search may go on behind it."""
    journal, ref = core.journal, log.partition_ref
    start_offset, end_offset = offsets
    while start_offset < end_offset:
        if wanted == MAX_TIMESTAMP:
            row = journal.max_timestamp(ref, start_offset=start_offset, end_offset=end_offset)
        else:
            row = journal.offset_for_timestamp(ref, wanted, start_offset=start_offset, end_offset=end_offset)
        if row is None:
            break
        earliest_ms = row.max_timestamp if wanted == MAX_TIMESTAMP else wanted
        batches = journal.read(ref, row.base_offset, end_offset=end_offset, max_bytes=1)
        for record in read_records(batches[0]) if batches else ():
            if record.timestamp_ms >= earliest_ms and record.offset >= start_offset:
                return record.timestamp_ms, record.offset
        start_offset = row.last_offset + 1
    return NOT_FOUND


def offset_for_leader_epoch(core: BrokerCore, call: Call) -> Outcome:
    """OffsetForLeaderEpoch (23), versions 2 to 4: where a leader epoch ended, for clients that look for lost records.

    Differences from Kafka: the newest epoch ends at the high watermark, for no reader is shown what is not synced.
    """
    request: OffsetForLeaderEpochRequest = call.request
    topics = [
        OffsetForLeaderTopicResult(
            topic.topic, [_find_end(core, topic.topic, partition) for partition in topic.partitions]
        )
        for topic in request.topics
    ]
    return Reply(OffsetForLeaderEpochResponse(topics=topics))


def _find_end(core: BrokerCore, topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    log = core.log(topic, wanted.partition)
    if log is None:
        return EpochEndOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, wanted.partition)
    if (error_code := check_leader_epoch(wanted.current_leader_epoch)) is not None:
        return EpochEndOffset(error_code, wanted.partition)
    end = (LEADER_EPOCH, log.state.high_watermark) if wanted.leader_epoch == LEADER_EPOCH else NOT_FOUND
    return EpochEndOffset(ErrorCode.NONE, wanted.partition, *end)
