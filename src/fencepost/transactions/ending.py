"""How a transaction ends: PREPARE, a marker on each partition, COMPLETE, in this order and in one commit group.

`prepare_*` computes the decided value, `finish` what follows from it. Recovery calls `finish` alone, for a PREPARE
whose markers or COMPLETE the crash took: markers repeat, and partitions accept repeats.

* EndTxn up to v4: the epoch stays.
* EndTxn from v5, and the coordinator's own aborts at level 2: the epoch grows by one and `last_producer_epoch`
  remembers the old one. At an exhausted epoch the markers carry 32767 and COMPLETE moves to a fresh producer id
  (KIP-890).
* The coordinator's own aborts below level 2: the epoch grows, and nothing remembers the old one.

The commit point is the PREPARE record. A crash may keep any prefix of the group; how many markers made it is not
recorded anywhere, so `decide_recovery` writes all of them again, after replay and before the first request. Ids without
a PREPARE stay as they are.

Transactions that run too long are aborted, ids that are not used are forgotten; never early, whatever the clock does.
The wall clock can step. Durations are therefore counted on a monotonic clock, from the first sweep that saw the
transaction open (or the id unchanged): an abort comes late by at most one sweep interval, as in Kafka, and never
early. A monotonic clock says nothing across a restart, so:
* an open transaction gets its whole timeout again after a restart: while the broker was down no client could finish it;
* the idle time of an id goes on: what the wall clock says once, at the start, is taken as its age, and monotonic time
  is added.
Stamps in records stay on the wall clock; they are for people.
"""

from typing import NamedTuple

from fencepost.errors import InvariantBroken
from fencepost.transactions.log_records import Cause, Decision, Entry, Marker, TransactionLogRecord, record_of
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import (
    FENCING_EPOCH,
    NO_TIMEOUT_MS,
    Transaction,
    is_exhausted,
    next_identity,
)
from fencepost.types import NO_IDENTITY, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ProducerIdentity

RECOVERY = Cause("roll-forward at recovery", "", "")

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
    successor = NO_IDENTITY
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
    """The coordinator's own abort: by timeout, or because another client initialises the id."""
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


def finish(state: CoordinatorState, prepared: Transaction, *, cause: Cause, now_ms: int) -> tuple[Entry, ...]:
    """Markers and COMPLETE of a decided transaction."""
    complete = record_of(prepared, completed(prepared, now_ms=now_ms), cause)
    return (*markers_of(prepared, coordinator_epoch=state.coordinator_epoch), complete)


def end(state: CoordinatorState, prepared: Transaction, *, cause: Cause, now_ms: int) -> tuple[Entry, ...]:
    """PREPARE, markers and COMPLETE."""
    prepare = record_of(state.transactions[prepared.transactional_id], prepared, cause)
    return (prepare, *finish(state, prepared, cause=cause, now_ms=now_ms))


def fence(state: CoordinatorState, transaction: Transaction, *, cause: Cause, now_ms: int) -> tuple[Entry, ...]:
    """The coordinator's own abort of an open transaction."""
    prepared = prepare_fencing(
        transaction,
        transaction_version=state.settings.transaction_version,
        fresh_producer_id=state.next_producer_id,
        now_ms=now_ms,
    )
    return end(state, prepared, cause=cause, now_ms=now_ms)


def decide_recovery(state: CoordinatorState, *, now_ms: int) -> list[Decision[None]]:
    """One decision for each id that is decided and not complete, in the order of the ids."""
    return [
        Decision(finish(state, transaction, cause=RECOVERY, now_ms=now_ms), None)
        for _, transaction in sorted(state.transactions.items())
        if transaction.state.is_prepare
    ]


def sweep_timed_out(state: CoordinatorState, *, monotonic_ms: int) -> list[str]:
    """The ids whose transaction is due. Decide and apply them one by one: each may take a producer id."""
    due = []
    for transactional_id, opening in state.open_transactions.items():
        timeout_ms = state.transactions[transactional_id].timeout_ms
        if opening.first_seen_monotonic_ms is None:
            opening.first_seen_monotonic_ms = monotonic_ms
        elif timeout_ms != NO_TIMEOUT_MS and monotonic_ms - opening.first_seen_monotonic_ms > timeout_ms:
            due.append(transactional_id)
    return sorted(due)


def decide_abort(state: CoordinatorState, transactional_id: str, *, now_ms: int) -> Decision[None]:
    """The abort of a transaction that has timed out; with nothing open any more it does nothing."""
    transaction = state.transactions.get(transactional_id)
    if transaction is None or transaction.state is not TransactionState.ONGOING:
        return Decision((), None)
    cause = Cause(f"transaction timeout of {transaction.timeout_ms} ms", "", "")
    return Decision(fence(state, transaction, cause=cause, now_ms=now_ms), None)


class Sighting(NamedTuple):
    """An id as it was when first seen so. The value itself is kept: any change of the id is another value."""

    transaction: Transaction
    seen_monotonic_ms: int
    age_ms: int


class ExpirySweep:
    """How long each id has been idle. Make one right after recovery, before the first request."""

    def __init__(self, state: CoordinatorState, *, now_ms: int, monotonic_ms: int) -> None:
        self._sightings = {
            transactional_id: Sighting(transaction, monotonic_ms, max(0, now_ms - transaction.last_update_timestamp_ms))
            for transactional_id, transaction in state.transactions.items()
        }

    def decide(self, state: CoordinatorState, *, monotonic_ms: int) -> Decision[None]:
        """Tombstones for all ids that have been idle for `transactional_id_expiration_ms`."""
        sightings: dict[str, Sighting] = {}
        expired = []
        for transactional_id, transaction in state.transactions.items():
            sighting = self._sightings.get(transactional_id)
            if sighting is None or sighting.transaction is not transaction:
                sighting = Sighting(transaction, monotonic_ms, 0)
            sightings[transactional_id] = sighting
            idle_ms = sighting.age_ms + monotonic_ms - sighting.seen_monotonic_ms
            if transaction.state.can_expire and idle_ms >= state.settings.transactional_id_expiration_ms:
                expired.append(transactional_id)
        self._sightings = sightings
        return Decision(
            tuple(TransactionLogRecord(transactional_id, None) for transactional_id in sorted(expired)), None
        )
