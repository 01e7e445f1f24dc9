"""Produce (0), versions 3 to 13: record batches into partitions.

v9 flexible; v11 TRANSACTION_ABORTABLE; v12 adds partitions to the transaction by itself (KIP-890); v13 topic ids.
acks=1 and acks=all are the same here: an acknowledged batch is synced. acks=0 is not answered, and an error closes
the connection, as in Kafka. A full disk is KAFKA_STORAGE_ERROR, which clients retry.
"""

from fencepost.broker.call import NO_REPLY, Call, CloseConnection, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS
from fencepost.broker.core import BrokerCore
from fencepost.broker.partition_log import PartitionLog
from fencepost.broker.producing import Produced, produce
from fencepost.errors import ErrorCode, Refusal
from fencepost.journal.disk import DiskFull
from fencepost.records.header import HEADER_BYTES, BatchHeader, read_header
from fencepost.types import NO_OFFSET, NO_TIMESTAMP
from fencepost.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

TOPIC_IDS_SINCE_VERSION = 13
LEGAL_ACKS = (-1, 0, 1)
NO_ACKS = 0


def handle(core: BrokerCore, call: Call) -> Outcome:
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
            outcome = produce(core, call, log, partition.records)
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
