"""InitProducerId (22), versions 0 to 6: an identity for an idempotent or transactional producer.

v3 the owner may present its identity (KIP-360); v4 PRODUCER_FENCED; v6 two-phase
commit (KIP-939), refused unless `transaction.two.phase.commit.enable`. See `transactions/decide_init_producer_id.py`.
"""

from fencepost.broker.call import Call, CloseConnection, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS, TRANSACTION_TOPIC
from fencepost.broker.core import BrokerCore
from fencepost.broker.partition_log import PendingAppend
from fencepost.broker.transaction_coordinator import EPOCH_PER_TRANSACTION
from fencepost.errors import ErrorCode, Refusal
from fencepost.journal.disk import DiskFull
from fencepost.partition.append import decide_marker
from fencepost.records.control import ControlMarker, build_marker
from fencepost.transactions import decision as decisions
from fencepost.transactions.decide_add_partitions import decide_add_partitions, verify_partitions
from fencepost.transactions.decide_end_txn import EndTxn, decide_end_txn
from fencepost.transactions.decide_init_producer_id import InitProducerId, decide_init_producer_id
from fencepost.transactions.error_translation import coordinator_error
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.types import TopicPartition
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


def init_producer_id(core: BrokerCore, call: Call) -> Outcome:
    request: InitProducerIdRequest = call.request
    decision = decide_init_producer_id(
        core.state.transactions,
        InitProducerId(
            transactional_id=request.transactional_id,
            transaction_timeout_ms=request.transaction_timeout_ms,
            presented=ProducerIdentity(request.producer_id, request.producer_epoch),
            enable_2pc=request.enable2_pc,
            keep_prepared_txn=request.keep_prepared_txn,
        ),
        settings=core.transactions.settings,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    if request.transactional_id is not None:
        core.state.transactions.carried_on(request.transactional_id, call.peer.connection_id)
    if isinstance(reply, Refusal):
        core.log_refusal(call, request.transactional_id, reply)
        error_code = coordinator_error("InitProducerId", call.api_version, reply.error_code)
        if request.transactional_id is None and error_code is ErrorCode.NOT_COORDINATOR:
            # Without a transactional id there is no coordinator to look for; this one makes clients just ask again.
            error_code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return core.reply(InitProducerIdResponse(error_code=error_code, producer_epoch=-1))
    return core.reply(
        InitProducerIdResponse(
            producer_id=reply.producer_id,
            producer_epoch=reply.producer_epoch,
            ongoing_txn_producer_id=reply.ongoing_txn_producer_id,
            ongoing_txn_producer_epoch=reply.ongoing_txn_producer_epoch,
        )
    )


# AddPartitionsToTxn (24), versions 0 to 5: partitions join a transaction before they are written to.
#
# Up to v3 one transaction, from clients; from v4 several, with verify-only, as brokers ask each other. If any
# partition of a transaction is unknown nothing is added: that one gets its error, the others OPERATION_NOT_ATTEMPTED.


BATCHED_SINCE_VERSION = 4


def add_partitions_to_txn(core: BrokerCore, call: Call) -> Outcome:
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
        decide = _verify if transaction.verify_only else _decide
        errors = decide(core, call, transaction, partitions)
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
    found = {}
    for topic_partition in partitions:
        if topic_partition.topic in (INTERNAL_TOPICS if from_client else (TRANSACTION_TOPIC,)):
            found[topic_partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif topic_partition not in core.state.logs:
            found[topic_partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not found:
        return {}
    return {
        topic_partition: found.get(topic_partition, ErrorCode.OPERATION_NOT_ATTEMPTED) for topic_partition in partitions
    }


def _decide(
    core: BrokerCore, call: Call, transaction: AddPartitionsToTxnTransaction, partitions: list[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=transaction.transactional_id,
        presented=ProducerIdentity(transaction.producer_id, transaction.producer_epoch),
        partitions=partitions,
        client_transaction_version=EPOCH_PER_TRANSACTION if call.api_version >= BATCHED_SINCE_VERSION else 0,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    if isinstance(reply, Refusal):
        core.log_refusal(call, transaction.transactional_id, reply)
        error_code = coordinator_error("AddPartitionsToTxn", call.api_version, reply.error_code)
        return dict.fromkeys(partitions, error_code)
    return dict.fromkeys(partitions, ErrorCode.NONE)


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
        core.log_refusal(call, transaction.transactional_id, answers)
        error_code = coordinator_error("AddPartitionsToTxn", call.api_version, answers.error_code)
        return dict.fromkeys(partitions, error_code)
    return {
        topic_partition: ErrorCode.NONE if refusal is None else refusal.error_code
        for topic_partition, refusal in answers.items()
    }


# AddOffsetsToTxn (25), versions 0 to 4: the group's partition of `__consumer_offsets` joins the transaction.


CLASSIC_FLOW = 0


def add_offsets_to_txn(core: BrokerCore, call: Call) -> Outcome:
    request: AddOffsetsToTxnRequest = call.request
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=request.transactional_id,
        presented=ProducerIdentity(request.producer_id, request.producer_epoch),
        partitions=(core.groups.topic_partition_of(request.group_id),),
        client_transaction_version=CLASSIC_FLOW,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    error_code = ErrorCode.NONE
    if isinstance(reply, Refusal):
        core.log_refusal(call, request.transactional_id, reply)
        error_code = coordinator_error("AddOffsetsToTxn", call.api_version, reply.error_code)
    core.state.transactions.carried_on(request.transactional_id, call.peer.connection_id)
    return core.reply(AddOffsetsToTxnResponse(error_code=error_code))


# EndTxn (26), versions 0 to 5: commit or abort. From v5 the answer carries the identity of the next transaction
# (KIP-890).
#
# PREPARE, the markers and COMPLETE are one commit group; the answer leaves when all of it is synced.


def end_txn(core: BrokerCore, call: Call) -> Outcome:
    request: EndTxnRequest = call.request
    decision = decide_end_txn(
        core.state.transactions,
        EndTxn(
            transactional_id=request.transactional_id,
            presented=ProducerIdentity(request.producer_id, request.producer_epoch),
            is_commit=request.committed,
            api_version=call.api_version,
        ),
        settings=core.transactions.settings,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    if isinstance(decision, decisions.CloseConnection):
        return CloseConnection(decision.reason)
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    if isinstance(reply, Refusal):
        core.log_refusal(call, request.transactional_id, reply)
        return core.reply(EndTxnResponse(error_code=coordinator_error("EndTxn", call.api_version, reply.error_code)))
    return core.reply(EndTxnResponse(producer_id=reply.producer_id, producer_epoch=reply.producer_epoch))


# WriteTxnMarkers (27), versions 1 and 2: end a producer's transaction on partitions, as one broker tells another.
#
# Here it is the administrator's tool against a hanging transaction: `kafka-transactions abort` sends the epochs that
# DescribeProducers showed. v2 the marker's transaction version (KIP-1228). On `__consumer_offsets` the group
# coordinator settles the pending offsets. The transaction coordinator is not asked, as in Kafka.
# Differences from Kafka: `__transaction_state` takes no markers; it never holds transactional data.


def write_txn_markers(core: BrokerCore, call: Call) -> Outcome:
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
    decision = decide_marker(
        log.state,
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )
    if isinstance(decision, Refusal):
        core.log_refusal(call, None, decision)
        return decision.error_code
    control = ControlMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        is_commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        timestamp_ms=call.now.wall_ms,
    )
    try:
        core.writer.append(PendingAppend(log, build_marker(**control._asdict()), control))
    except DiskFull:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE
