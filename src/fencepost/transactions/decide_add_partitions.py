"""Partitions join a transaction: AddPartitionsToTxn, AddOffsetsToTxn, implicitly Produce v12 and TxnOffsetCommit v5.

The record with the partition must be appended before the partition's data, so that no partition ever holds
transactional data that the coordinator does not know of. `verify_partitions` is the question that a Produce of the
classic flow asks. Checks of topics and rights, and what each partition is answered when some fail, are the handler's.
"""

from collections.abc import Collection

from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.log_records import Decision, TransactionLogRecord
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import ProducerIdentity, TopicPartition


def decide_add_partitions(
    state: CoordinatorState,
    *,
    transactional_id: str,
    presented: ProducerIdentity,
    partitions: Collection[TopicPartition],
    client_transaction_version: int,
    connection_id: int,
    now_ms: int,
) -> Decision[None] | Refusal:
    """`client_transaction_version` is 2 for AddPartitionsToTxn v4+ and the implicit adds, else 0."""
    transaction = _open_for(state, transactional_id, presented)
    if isinstance(transaction, Refusal):
        return transaction
    if transaction.is_kept:
        return Refusal(
            ErrorCode.INVALID_TXN_STATE,
            f"the prepared transaction of {transactional_id!r} is kept: it can only be committed or aborted",
        )
    is_open = transaction.state is TransactionState.ONGOING
    if is_open and transaction.partitions.issuperset(partitions):
        return Decision((), None)
    ongoing = transaction.moved_to(
        TransactionState.ONGOING,
        now_ms=now_ms,
        partitions=transaction.partitions.union(partitions),
        start_timestamp_ms=transaction.start_timestamp_ms if is_open else now_ms,
        client_transaction_version=client_transaction_version,
    )
    return Decision((TransactionLogRecord(transactional_id, ongoing, connection_id=connection_id),), None)


def verify_partitions(
    state: CoordinatorState,
    *,
    transactional_id: str,
    presented: ProducerIdentity,
    partitions: Collection[TopicPartition],
) -> dict[TopicPartition, Refusal | None] | Refusal:
    """None for each partition that is part of the open transaction. Changes nothing."""
    transaction = _open_for(state, transactional_id, presented)
    if isinstance(transaction, Refusal):
        return transaction
    added = transaction.partitions if transaction.state is TransactionState.ONGOING else frozenset()
    return {
        topic_partition: None
        if topic_partition in added
        else Refusal(
            ErrorCode.TRANSACTION_ABORTABLE, f"{topic_partition} is not part of the transaction of {transactional_id!r}"
        )
        for topic_partition in partitions
    }


def _open_for(state: CoordinatorState, transactional_id: str, presented: ProducerIdentity) -> Transaction | Refusal:
    transaction = state.owned_by(transactional_id, presented)
    if isinstance(transaction, Transaction) and transaction.state.is_prepare:
        return Refusal(
            ErrorCode.CONCURRENT_TRANSACTIONS, f"the transaction of {transactional_id!r} is being finished: ask again"
        )
    return transaction
