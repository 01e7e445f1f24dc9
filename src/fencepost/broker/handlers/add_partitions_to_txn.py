"""AddPartitionsToTxn (24), versions 0 to 5: partitions join a transaction before they are written to.

Up to v3 one transaction, from clients; from v4 several, with verify-only, as brokers ask each other. If any
partition of a transaction is unknown nothing is added: that one gets its error, the others OPERATION_NOT_ATTEMPTED.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS, TRANSACTION_TOPIC
from fencepost.broker.core import BrokerCore
from fencepost.broker.joining import EPOCH_PER_TRANSACTION
from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.decide_add_partitions import decide_add_partitions, verify_partitions
from fencepost.transactions.error_translation import coordinator_error
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.types import TopicPartition
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

BATCHED_SINCE_VERSION = 4


def handle(core: BrokerCore, call: Call) -> Outcome:
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
