"""How a transaction ends: PREPARE, a marker on each partition, COMPLETE, in this order and in one commit group.

`prepare_*` computes the decided value, `finish` what follows from it. Recovery calls `finish` alone, for a PREPARE
whose markers or COMPLETE the crash took: markers repeat, and partitions accept repeats.

* EndTxn up to v4: the epoch stays.
* EndTxn from v5, and the coordinator's own aborts at level 2: the epoch grows by one and `last_producer_epoch`
  remembers the old one. At an exhausted epoch the markers carry 32767 and COMPLETE moves to a fresh producer id
  (KIP-890).
* The coordinator's own aborts below level 2: the epoch grows, and nothing remembers the old one.
"""

from fencepost.errors import InvariantBroken
from fencepost.transactions.log_entries import Cause, Entry, Marker, record_of
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import FENCING_EPOCH, ProducerIdentity, Transaction, is_exhausted, next_identity
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

PREPARED = {True: TransactionState.PREPARE_COMMIT, False: TransactionState.PREPARE_ABORT}
COMPLETED = {
    TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
    TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
}


def prepare_keeping_epoch(transaction: Transaction, *, is_commit: bool, now_ms: int) -> Transaction:
    return transaction.moved_to(PREPARED[is_commit], now_ms=now_ms, client_transaction_version=0)


def prepare_bumping_epoch(
    transaction: Transaction, *, is_commit: bool, client_transaction_version: int, fresh_producer_id: int, now_ms: int
) -> Transaction:
    """With nothing open (an empty abort) the transaction starts and ends at once."""
    presented = transaction.client_identity
    successor = ProducerIdentity(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
    if transaction.is_kept or is_exhausted(presented.producer_epoch):
        successor = next_identity(presented, fresh_producer_id=fresh_producer_id)
    is_open = transaction.state is TransactionState.ONGOING
    return transaction.moved_to(
        PREPARED[is_commit],
        now_ms=now_ms,
        producer_epoch=min(transaction.producer_epoch + 1, FENCING_EPOCH),
        last_producer_epoch=presented.producer_epoch,
        next_producer_id=successor.producer_id,
        next_producer_epoch=successor.producer_epoch,
        start_timestamp_ms=transaction.start_timestamp_ms if is_open else now_ms,
        client_transaction_version=client_transaction_version,
    )


def prepare_fencing(
    transaction: Transaction, *, transaction_version: int, fresh_producer_id: int, now_ms: int
) -> Transaction:
    """The coordinator's own abort: by timeout, or because somebody else initialises the id."""
    bumped = prepare_bumping_epoch(
        transaction,
        is_commit=False,
        client_transaction_version=transaction_version,
        fresh_producer_id=fresh_producer_id,
        now_ms=now_ms,
    )
    if transaction_version >= 2 or transaction.is_kept:
        return bumped
    return transaction.moved_to(
        TransactionState.PREPARE_ABORT,
        now_ms=now_ms,
        producer_epoch=bumped.producer_epoch,
        last_producer_epoch=NO_PRODUCER_EPOCH,
        client_transaction_version=transaction_version,
    )


def identity_after(prepared: Transaction) -> ProducerIdentity:
    """Whom COMPLETE leaves the id to: the successor where PREPARE named one."""
    if prepared.next_producer_id == NO_PRODUCER_ID:
        return prepared.identity
    return ProducerIdentity(prepared.next_producer_id, max(prepared.next_producer_epoch, 0))


def completed(prepared: Transaction, *, now_ms: int) -> Transaction:
    """The value of COMPLETE."""
    if prepared.state not in COMPLETED:
        raise InvariantBroken(f"only Prepare* completes, {prepared.transactional_id!r} is {prepared.state.name}")
    identity = identity_after(prepared)
    return prepared.moved_to(
        COMPLETED[prepared.state],
        now_ms=now_ms,
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        next_producer_id=NO_PRODUCER_ID,
        next_producer_epoch=NO_PRODUCER_EPOCH,
        partitions=frozenset(),
    )


def markers_of(prepared: Transaction, *, coordinator_epoch: int) -> list[Marker]:
    return [
        Marker(
            topic_partition=topic_partition,
            producer_id=prepared.producer_id,
            producer_epoch=prepared.producer_epoch,
            is_commit=prepared.state is TransactionState.PREPARE_COMMIT,
            coordinator_epoch=coordinator_epoch,
            transaction_version=prepared.client_transaction_version,
        )
        for topic_partition in prepared.ordered_partitions
    ]


def finish(prepared: Transaction, *, coordinator_epoch: int, cause: Cause, now_ms: int) -> tuple[Entry, ...]:
    """Markers and COMPLETE of a decided transaction."""
    complete = record_of(prepared, completed(prepared, now_ms=now_ms), cause)
    return (*markers_of(prepared, coordinator_epoch=coordinator_epoch), complete)


def end(
    transaction: Transaction, prepared: Transaction, *, coordinator_epoch: int, cause: Cause, now_ms: int
) -> tuple[Entry, ...]:
    """PREPARE, markers and COMPLETE."""
    prepare = record_of(transaction, prepared, cause)
    return (prepare, *finish(prepared, coordinator_epoch=coordinator_epoch, cause=cause, now_ms=now_ms))
