"""What producers and administrators ask of transactions: identities, partitions that join, ends, markers.

The rules are in `transactions/`; here requests become decisions and decisions become answers. A refusal is logged,
because most responses have no room for its message, and older versions get INVALID_PRODUCER_EPOCH where newer ones know
PRODUCER_FENCED (KIP-588).
"""

from typing import TypeVar

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS, TRANSACTION_TOPIC
from fencepost.broker.core import BrokerCore
from fencepost.broker.transaction_coordinator import EPOCH_PER_TRANSACTION
from fencepost.errors import CloseConnection, ErrorCode, Refusal
from fencepost.journal.disk import DiskFull
from fencepost.transactions.decide_add_partitions import decide_add_partitions, verify_partitions
from fencepost.transactions.decide_end_txn import decide_end_txn
from fencepost.transactions.decide_init_producer_id import decide_init_producer_id
from fencepost.transactions.log_records import Decision, Marker
from fencepost.types import ProducerIdentity, TopicPartition
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fencepost.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

CLASSIC_FLOW = 0
BATCHED_SINCE_VERSION = 4

ReplyT = TypeVar("ReplyT")


def init_producer_id(core: BrokerCore, call: Call) -> Outcome:
    """InitProducerId (22), versions 0 to 6: an identity for an idempotent or transactional producer.

    v3 the owner may present its identity (KIP-360); v4 PRODUCER_FENCED; v6 two-phase commit (KIP-939), refused unless
    `transaction.two.phase.commit.enable`.
    """
    request: InitProducerIdRequest = call.request
    decision = decide_init_producer_id(
        core.state.transactions, request, caller=core.transactions.caller(call), now_ms=call.now.wall_ms
    )
    answer = _answer(core, call, request.transactional_id, decision)
    if request.transactional_id is not None:
        core.state.transactions.carried_on(request.transactional_id, call.peer.connection_id)
    if not isinstance(answer, ErrorCode):
        return core.reply(answer)
    if request.transactional_id is None and answer is ErrorCode.NOT_COORDINATOR:
        # Without a transactional id there is no coordinator to look for; this one makes clients just ask again.
        answer = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return core.reply(InitProducerIdResponse(error_code=answer, producer_epoch=-1))


def _answer(
    core: BrokerCore, call: Call, transactional_id: str | None, decision: Decision[ReplyT] | Refusal
) -> ReplyT | ErrorCode:
    """Append what was decided: the reply, or the error code of a refusal."""
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    return _refuse(core, call, transactional_id, reply) if isinstance(reply, Refusal) else reply


def _refuse(core: BrokerCore, call: Call, transactional_id: str | None, refusal: Refusal) -> ErrorCode:
    """The error code that the request's version knows."""
    core.log_refusal(call, transactional_id, refusal)
    fenced_since_version = 4 if isinstance(call.request, InitProducerIdRequest) else 2
    if refusal.error_code is ErrorCode.PRODUCER_FENCED and call.api_version < fenced_since_version:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return refusal.error_code


def add_partitions_to_txn(core: BrokerCore, call: Call) -> Outcome:
    """AddPartitionsToTxn (24), versions 0 to 5: partitions join a transaction before they are written to.

    Up to v3 one transaction, from clients; from v4 several, with verify-only, as brokers ask each other. If any
    partition of a transaction is unknown nothing is added: that one gets its error, the others OPERATION_NOT_ATTEMPTED.
    """
    request: AddPartitionsToTxnRequest = call.request
    if call.api_version >= BATCHED_SINCE_VERSION:
        results = [
            AddPartitionsToTxnResult(transaction.transactional_id, _add(core, call, transaction))
            for transaction in request.transactions
        ]
        return core.reply(AddPartitionsToTxnResponse(results_by_transaction=results))
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )
    return core.reply(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_add(core, call, transaction)))


def _add(
    core: BrokerCore, call: Call, transaction: AddPartitionsToTxnTransaction
) -> list[AddPartitionsToTxnTopicResult]:
    partitions = [TopicPartition(topic.name, index) for topic in transaction.topics for index in topic.partitions]
    errors = _refuse_unknown(core, partitions, from_client=call.api_version < BATCHED_SINCE_VERSION)
    if not errors:
        errors = (_verify if transaction.verify_only else _join)(core, call, transaction, partitions)
        core.state.transactions.carried_on(transaction.transactional_id, call.peer.connection_id)
    return [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [
                AddPartitionsToTxnPartitionResult(index, errors[TopicPartition(topic.name, index)])
                for index in topic.partitions
            ],
        )
        for topic in transaction.topics
    ]


def _refuse_unknown(
    core: BrokerCore, partitions: list[TopicPartition], *, from_client: bool
) -> dict[TopicPartition, ErrorCode]:
    """Empty if all of them can be added."""
    errors = dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
    refused_topics = INTERNAL_TOPICS if from_client else (TRANSACTION_TOPIC,)
    for topic_partition in partitions:
        if topic_partition.topic in refused_topics:
            errors[topic_partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif topic_partition not in core.state.logs:
            errors[topic_partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return errors if set(errors.values()) != {ErrorCode.OPERATION_NOT_ATTEMPTED} else {}


def _join(
    core: BrokerCore, call: Call, transaction: AddPartitionsToTxnTransaction, partitions: list[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=transaction.transactional_id,
        presented=ProducerIdentity(transaction.producer_id, transaction.producer_epoch),
        partitions=partitions,
        client_transaction_version=EPOCH_PER_TRANSACTION if call.api_version >= BATCHED_SINCE_VERSION else CLASSIC_FLOW,
        connection_id=call.peer.connection_id,
        now_ms=call.now.wall_ms,
    )
    error_code = _answer(core, call, transaction.transactional_id, decision) or ErrorCode.NONE
    return dict.fromkeys(partitions, error_code)


def _verify(
    core: BrokerCore, call: Call, transaction: AddPartitionsToTxnTransaction, partitions: list[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    answers = verify_partitions(
        core.state.transactions,
        transactional_id=transaction.transactional_id,
        presented=ProducerIdentity(transaction.producer_id, transaction.producer_epoch),
        partitions=partitions,
    )
    if isinstance(answers, Refusal):
        return dict.fromkeys(partitions, _refuse(core, call, transaction.transactional_id, answers))
    return {
        topic_partition: ErrorCode.NONE if refusal is None else refusal.error_code
        for topic_partition, refusal in answers.items()
    }


def add_offsets_to_txn(core: BrokerCore, call: Call) -> Outcome:
    """AddOffsetsToTxn (25), versions 0 to 4: the group's partition of `__consumer_offsets` joins the transaction."""
    request: AddOffsetsToTxnRequest = call.request
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=request.transactional_id,
        presented=ProducerIdentity(request.producer_id, request.producer_epoch),
        partitions=(core.groups.topic_partition_of(request.group_id),),
        client_transaction_version=CLASSIC_FLOW,
        connection_id=call.peer.connection_id,
        now_ms=call.now.wall_ms,
    )
    error_code = _answer(core, call, request.transactional_id, decision) or ErrorCode.NONE
    core.state.transactions.carried_on(request.transactional_id, call.peer.connection_id)
    return core.reply(AddOffsetsToTxnResponse(error_code=error_code))


def end_txn(core: BrokerCore, call: Call) -> Outcome:
    """EndTxn (26), versions 0 to 5: commit or abort. From v5 the answer carries the identity of the next transaction
    (KIP-890).

    PREPARE, the markers and COMPLETE are one commit group; the answer leaves when all of it is synced.
    """
    request: EndTxnRequest = call.request
    decision = decide_end_txn(
        core.state.transactions,
        request,
        api_version=call.api_version,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    if isinstance(decision, CloseConnection):
        return decision
    answer = _answer(core, call, request.transactional_id, decision)
    return core.reply(EndTxnResponse(error_code=answer) if isinstance(answer, ErrorCode) else answer)


def write_txn_markers(core: BrokerCore, call: Call) -> Outcome:
    """WriteTxnMarkers (27), versions 1 and 2: end a producer's transaction on partitions, as brokers ask each other.

    Here it is the administrator's tool against a hanging transaction: `kafka-transactions abort` sends the epochs that
    DescribeProducers showed. v2 the marker's transaction version (KIP-1228). On `__consumer_offsets` the group
    coordinator settles the pending offsets. The transaction coordinator is not asked, as in Kafka.
    Differences from Kafka: `__transaction_state` takes no markers; it never holds transactional data.
    """
    request: WriteTxnMarkersRequest = call.request
    markers = [
        WritableTxnMarkerResult(
            marker.producer_id,
            [
                WritableTxnMarkerTopicResult(
                    topic.name,
                    [
                        WritableTxnMarkerPartitionResult(index, _write(core, call, marker, topic.name, index))
                        for index in topic.partition_indexes
                    ],
                )
                for topic in marker.topics
            ],
        )
        for marker in request.markers
    ]
    return core.reply(WriteTxnMarkersResponse(markers=markers))


def _write(core: BrokerCore, call: Call, marker: WritableTxnMarker, topic: str, index: int) -> ErrorCode:
    log = core.log(topic, index)
    if log is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic == TRANSACTION_TOPIC:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if marker.producer_id < 0 or marker.producer_epoch < 0:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    wanted = Marker(
        topic_partition=log.topic_partition,
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        is_commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )
    append = core.transactions.prepare_marker(log, wanted, now_ms=call.now.wall_ms)
    if isinstance(append, Refusal):
        core.log_refusal(call, None, append)
        return append.error_code
    try:
        core.writer.append(append)
    except DiskFull:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE
