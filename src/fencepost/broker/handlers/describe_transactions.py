"""DescribeTransactions (65), version 0: the coordinator's view of transactional ids, one error for each."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import Refusal
from fencepost.transactions.queries import describe_transaction
from fencepost.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeTransactionsRequest = call.request
    states = [_describe(core, transactional_id) for transactional_id in request.transactional_ids]
    return core.reply(DescribeTransactionsResponse(transaction_states=states))


def _describe(core: BrokerCore, transactional_id: str) -> TransactionState:
    found = describe_transaction(core.state.transactions, transactional_id)
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
