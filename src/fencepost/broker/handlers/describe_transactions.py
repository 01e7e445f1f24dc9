"""What administrators ask about transactions: the coordinator's view of them, and the partitions'."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import check_name
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions import queries
from fencepost.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from fencepost.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from fencepost.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from fencepost.wire.messages.list_transactions import TransactionState as ListedState


def describe_transactions(core: BrokerCore, call: Call) -> Outcome:
    """DescribeTransactions (65), version 0: the coordinator's view of transactional ids, one error for each."""
    request: DescribeTransactionsRequest = call.request
    states = [_describe_transaction(core, transactional_id) for transactional_id in request.transactional_ids]
    return core.reply(DescribeTransactionsResponse(transaction_states=states))


def _describe_transaction(core: BrokerCore, transactional_id: str) -> TransactionState:
    found = queries.describe_transaction(core.state.transactions, transactional_id)
    if isinstance(found, Refusal):
        return TransactionState(found.error_code, transactional_id)
    topics: dict[str, TopicData] = {}
    for topic, partition in found.ordered_partitions:
        topics.setdefault(topic, TopicData(topic)).partitions.append(partition)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=found.state.kafka_name,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.start_timestamp_ms,
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        topics=list(topics.values()),
    )


def list_transactions(core: BrokerCore, call: Call) -> Outcome:
    """ListTransactions (66), versions 0 to 2: transactional ids by state and producer id; v1 by duration (KIP-994), v2
    by a pattern that must match the whole id (KIP-1152)."""
    request: ListTransactionsRequest = call.request
    listing = queries.list_transactions(
        core.state.transactions,
        state_filters=request.state_filters,
        producer_id_filters=request.producer_id_filters,
        duration_filter_ms=request.duration_filter,
        transactional_id_pattern=request.transactional_id_pattern,
        now_ms=call.now.wall_ms,
    )
    if isinstance(listing, Refusal):
        return core.reply(ListTransactionsResponse(error_code=listing.error_code))
    states = [
        ListedState(found.transactional_id, found.producer_id, found.state.kafka_name) for found in listing.transactions
    ]
    return core.reply(
        ListTransactionsResponse(unknown_state_filters=listing.unknown_state_filters, transaction_states=states)
    )


def describe_producers(core: BrokerCore, call: Call) -> Outcome:
    """DescribeProducers (61), version 0: what partitions remember of each producer id, open transactions included.

    This is how `kafka-transactions` finds a hanging transaction, which WriteTxnMarkers can then abort.
    """
    request: DescribeProducersRequest = call.request
    topics = [
        TopicResponse(topic.name, [_describe_partition(core, topic.name, index) for index in topic.partition_indexes])
        for topic in request.topics
    ]
    return core.reply(DescribeProducersResponse(topics=topics))


def _describe_partition(core: BrokerCore, topic: str, index: int) -> PartitionResponse:
    log = core.log(topic, index)
    if log is None:
        if (illegal := check_name(topic)) is not None:
            return PartitionResponse(index, illegal.error_code, illegal.message)
        message = "This server does not host this topic-partition."
        return PartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    producers = [
        ProducerState(
            producer_id=producer_id,
            producer_epoch=producer.producer_epoch,
            last_sequence=producer.last_sequence,
            last_timestamp=producer.last_timestamp,
            coordinator_epoch=producer.coordinator_epoch,
            current_txn_start_offset=producer.current_txn_first_offset,
        )
        for producer_id, producer in log.state.producers.items()
    ]
    return PartitionResponse(index, active_producers=producers)
