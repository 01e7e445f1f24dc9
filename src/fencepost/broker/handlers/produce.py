"""Produce (0), versions 3 to 13: record batches into partitions.

v9 flexible; v11 TRANSACTION_ABORTABLE; v12 adds partitions to the transaction by itself (KIP-890); v13 topic ids.
acks=1 and acks=all are the same here: an acknowledged batch is synced. acks=0 is not answered, and an error closes
the connection, as in Kafka. A full disk is KAFKA_STORAGE_ERROR, which clients retry.

The order of checks is Kafka's: the record set, the batch, the transaction, then what the partition remembers of the
producer. Whatever a transaction needs from its coordinator is in the journal before the partition's data is, so every
partition that holds transactional data is in the persisted list of its transaction.
"""

from typing import NamedTuple

from fencepost.broker.call import NO_REPLY, Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS
from fencepost.broker.core import BrokerCore
from fencepost.broker.partition_log import PartitionLog
from fencepost.broker.transaction_coordinator import join_transaction, produce_error
from fencepost.errors import CloseConnection, ErrorCode, Refusal
from fencepost.journal.disk import DiskFull
from fencepost.partition.append import Append, Duplicate, decide_append
from fencepost.records.compression import Compression
from fencepost.records.header import HEADER_BYTES, TRANSACTIONAL_FLAG, BatchHeader, read_header
from fencepost.records.inspection import validate_keyed_records, validate_record_lengths
from fencepost.records.record import InvalidRecordBatch
from fencepost.records.validation import (
    recompress,
    refuse_size,
    validate_client_batch,
    validate_record_set,
    with_append_time,
)
from fencepost.settings import TopicSettings
from fencepost.types import NO_OFFSET, NO_TIMESTAMP, Buffer, ProducerIdentity
from fencepost.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

IMPLICIT_ADD_SINCE_VERSION = 12
TOPIC_IDS_SINCE_VERSION = 13
LEGAL_ACKS = (-1, 0, 1)
NO_ACKS = 0

CODECS = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}

FENCING_ERRORS = frozenset(
    {ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING}
)
"""Logged here too: not every client shows the message that comes with them."""


class Produced(NamedTuple):
    base_offset: int
    log_append_time_ms: int = NO_TIMESTAMP


def produce(core: BrokerCore, call: Call) -> Outcome:
    request: ProduceRequest = call.request
    refusal = _refuse_request(request)
    response = ProduceResponse(responses=[_produce_topic(core, call, topic, refusal) for topic in request.topic_data])
    if request.acks != NO_ACKS:
        return core.reply(response)
    for topic in response.responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                return CloseConnection(f"acks=0 and {ErrorCode(partition.error_code).name}: {partition.error_message}")
    return NO_REPLY


def _refuse_request(request: ProduceRequest) -> Refusal | None:
    """What is wrong with all of it, whatever it is written to."""
    transactional = [header for header in _headers(request) if header.is_transactional]
    if transactional and request.transactional_id is None:
        return Refusal(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "a transactional batch came in a request without a transactional id",
        )
    if len({(header.producer_id, header.producer_epoch) for header in transactional}) > 1:
        return Refusal(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, "the request's transactional batches have several producers"
        )
    return None


def _headers(request: ProduceRequest) -> list[BatchHeader]:
    return [
        read_header(partition.records)
        for topic in request.topic_data
        for partition in topic.partition_data
        if partition.records is not None and len(partition.records) >= HEADER_BYTES
    ]


def _produce_topic(
    core: BrokerCore, call: Call, topic: TopicProduceData, refusal: Refusal | None
) -> TopicProduceResponse:
    by_id = call.api_version >= TOPIC_IDS_SINCE_VERSION
    name = core.state.catalogue.names_by_id.get(topic.topic_id) if by_id else topic.name
    partitions = [_produce_partition(core, call, name, partition, refusal) for partition in topic.partition_data]
    return TopicProduceResponse(topic_id=topic.topic_id, name=topic.name, partition_responses=partitions)


def _produce_partition(
    core: BrokerCore, call: Call, name: str | None, partition: PartitionProduceData, refusal: Refusal | None
) -> PartitionProduceResponse:
    log = core.log(name, partition.index) if name is not None else None
    refusal = refusal or _refuse_target(name, log) or _refuse_acks(call.request.acks)
    if refusal is None and log is not None:
        try:
            outcome = append_records(core, call, log, partition.records)
        except DiskFull as full:
            outcome = Refusal(ErrorCode.KAFKA_STORAGE_ERROR, f"the disk is full: {full}")
        if isinstance(outcome, Produced):
            return PartitionProduceResponse(
                index=partition.index,
                base_offset=outcome.base_offset,
                log_append_time_ms=outcome.log_append_time_ms,
                log_start_offset=log.state.log_start_offset,
            )
        refusal = outcome
    assert refusal is not None
    return PartitionProduceResponse(
        index=partition.index,
        error_code=refusal.error_code,
        base_offset=NO_OFFSET,
        log_append_time_ms=NO_TIMESTAMP,
        error_message=refusal.message,
    )


def _refuse_acks(acks: int) -> Refusal | None:
    if acks in LEGAL_ACKS:
        return None
    return Refusal(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={acks}: expected -1 (all), 0 or 1")


def _refuse_target(name: str | None, log: PartitionLog | None) -> Refusal | None:
    if name is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id")
    if log is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no such partition of '{name}'")
    if name in INTERNAL_TOPICS:
        return Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, f"'{name}' is written by the broker alone")
    return None


def append_records(core: BrokerCore, call: Call, log: PartitionLog, records: Buffer | None) -> Produced | Refusal:
    settings = core.state.catalogue.topics[log.topic_partition.topic].settings
    batch = prepare_batch(records, settings, produce_version=call.api_version, now_ms=call.now.wall_ms)
    if isinstance(batch, Refusal):
        return batch
    header = read_header(batch)
    outcome = _append(core, call, log, batch, header)
    if isinstance(outcome, Refusal):
        if outcome.error_code in FENCING_ERRORS:
            core.log_refusal(call, call.request.transactional_id, outcome)
        return outcome
    if isinstance(outcome, Duplicate):
        return Produced(outcome.base_offset, outcome.timestamp)
    is_append_time = settings.message_timestamp_type == "LogAppendTime"
    return Produced(outcome.base_offset, header.max_timestamp if is_append_time else NO_TIMESTAMP)


def _append(
    core: BrokerCore, call: Call, log: PartitionLog, batch: Buffer, header: BatchHeader
) -> Append | Duplicate | Refusal:
    """Join the transaction, if there is one, and append what the partition has not seen yet."""
    is_implicit_add = False
    identity = ProducerIdentity(header.producer_id, header.producer_epoch)
    if header.attributes & TRANSACTIONAL_FLAG:
        is_implicit_add = call.api_version >= IMPLICIT_ADD_SINCE_VERSION
        refusal = join_transaction(
            core, call, log, identity, is_implicit_add=is_implicit_add, base_sequence=header.base_sequence
        )
        if refusal is not None:
            return Refusal(produce_error(call.api_version, refusal.error_code), refusal.message)
    decision = decide_append(log.state, header, has_epoch_per_transaction=is_implicit_add)
    if isinstance(decision, Refusal):
        return core.transactions.explained(decision, call.request.transactional_id, identity)
    if isinstance(decision, Append):
        core.writer.append_batch(log, batch, header)
    return decision


def prepare_batch(
    records: Buffer | None, settings: TopicSettings, *, produce_version: int, now_ms: int
) -> Buffer | Refusal:
    """The batch as it will be stored, or why it will not be."""
    if (refusal := validate_record_set(records, produce_version=produce_version)) is not None:
        return refusal
    assert records is not None
    limits = {"max_message_bytes": settings.max_message_bytes, "segment_bytes": settings.segment_bytes}
    header = validate_client_batch(records, **limits)
    if isinstance(header, Refusal):
        return header
    if (refusal := _refuse_inside(records, header, settings)) is not None:
        return refusal
    if settings.message_timestamp_type == "LogAppendTime":
        records = with_append_time(records, now_ms)
    codec = CODECS.get(settings.compression_type)
    if codec is None or codec == header.compression:
        return records
    try:
        recompressed = recompress(records, codec)
    except InvalidRecordBatch as problem:
        return Refusal(ErrorCode.INVALID_RECORD, str(problem))
    return refuse_size(len(recompressed), **limits) or recompressed


def _refuse_inside(batch: Buffer, header: BatchHeader, settings: TopicSettings) -> Refusal | None:
    """A compacted topic needs a key on every record, so there the whole batch is read; elsewhere its framing is."""
    if "compact" in settings.cleanup_policy:
        return validate_keyed_records(batch, header)
    return validate_record_lengths(batch, header)
