"""InitProducerId v6 with keepPreparedTxn on an open transaction (KIP-939): fence the old client, keep the transaction.

The transaction stays under its own identity; the client gets a second one, and only that one may end it. Each further
call moves the client's identity on. The answer names both, so that an external coordinator can compare the kept
identity with the one that it wrote down. Kafka has the schema but answers 35; the rules are those of the KIP's pull
request.
"""

from fencepost.transactions.decision import Decision, InitProducerIdReply
from fencepost.transactions.log_entries import Caller, cause_of, record_of
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction, next_identity


def decide_keep_prepared(
    state: CoordinatorState, transaction: Transaction, *, caller: Caller, now_ms: int
) -> Decision[InitProducerIdReply]:
    client = next_identity(transaction.client_identity, fresh_producer_id=state.next_producer_id)
    kept = transaction.moved_to(
        TransactionState.ONGOING,
        now_ms=now_ms,
        next_producer_id=client.producer_id,
        next_producer_epoch=client.producer_epoch,
    )
    record = record_of(transaction, kept, cause_of("InitProducerId(keepPreparedTxn)", caller))
    reply = InitProducerIdReply(
        producer_id=client.producer_id,
        producer_epoch=client.producer_epoch,
        ongoing_txn_producer_id=transaction.producer_id,
        ongoing_txn_producer_epoch=transaction.producer_epoch,
    )
    return Decision((record,), reply)
