"""Fold one appended record into the state. Never refuses: a record in the journal has happened.

`apply` is the live path and insists on a legal arrow. `replay` is the same without that check: cleaning leaves holes,
so a COMPLETE may follow an Ongoing whose PREPARE was dropped as superseded; the last record of an id is right
regardless.
"""

from fencepost.errors import InvariantBroken
from fencepost.transactions.fencing_journal import FencingJournal, IdentityChange
from fencepost.transactions.log_records import Cause, ProducerIdsRecord, TransactionLogRecord
from fencepost.transactions.state import CoordinatorState, OpenTransaction
from fencepost.transactions.states import LEGAL_TRANSITIONS, NEVER_STORED, TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import NO_IDENTITY

CAUSE_UNKNOWN = Cause("a request whose record names no cause", "", "")


def apply(state: CoordinatorState, record: TransactionLogRecord | ProducerIdsRecord) -> None:
    """A record that was just appended."""
    if isinstance(record, TransactionLogRecord):
        _check_arrow(state, record)
    _fold(state, record)


def replay(state: CoordinatorState, record: TransactionLogRecord | ProducerIdsRecord) -> None:
    """A record that recovery reads back."""
    _fold(state, record)


def _check_arrow(state: CoordinatorState, record: TransactionLogRecord) -> None:
    before = state.transactions.get(record.transactional_id)
    source = TransactionState.EMPTY if before is None else before.state
    target = TransactionState.DEAD if record.transaction is None else record.transaction.state
    if (source, target) not in LEGAL_TRANSITIONS:
        raise InvariantBroken(
            f"transactional id {record.transactional_id!r} may not go from {source.kafka_name} to {target.kafka_name}"
        )
    if record.transaction is not None and target in NEVER_STORED:
        raise InvariantBroken(f"{target.kafka_name} is never stored, but {record.transactional_id!r} was to have it")


def _fold(state: CoordinatorState, record: TransactionLogRecord | ProducerIdsRecord) -> None:
    if isinstance(record, ProducerIdsRecord):
        state.next_producer_id = max(state.next_producer_id, record.next_producer_id)
    elif record.transaction is None:
        state.transactions.pop(record.transactional_id, None)
        state.fencing_journals.pop(record.transactional_id, None)
        state.open_transactions.pop(record.transactional_id, None)
    else:
        _fold_transaction(state, record, record.transaction)


def _fold_transaction(state: CoordinatorState, record: TransactionLogRecord, transaction: Transaction) -> None:
    before = state.transactions.get(record.transactional_id)
    state.transactions[record.transactional_id] = transaction
    state.next_producer_id = max(state.next_producer_id, transaction.producer_id + 1, transaction.next_producer_id + 1)
    _note_identity(state, record, before, transaction)
    if transaction.state is not TransactionState.ONGOING:
        state.open_transactions.pop(record.transactional_id, None)
    elif before is None or before.state is not TransactionState.ONGOING:
        state.open_transactions[record.transactional_id] = OpenTransaction(record.connection_id)


def _note_identity(
    state: CoordinatorState, record: TransactionLogRecord, before: Transaction | None, after: Transaction
) -> None:
    identity_before = NO_IDENTITY if before is None else before.client_identity
    identity_after = after.client_identity
    if identity_before == identity_after:
        return
    change = IdentityChange(
        at_ms=after.last_update_timestamp_ms,
        cause=record.cause or CAUSE_UNKNOWN,
        before=identity_before,
        after=identity_after,
    )
    state.fencing_journals.setdefault(record.transactional_id, FencingJournal()).note(change)
