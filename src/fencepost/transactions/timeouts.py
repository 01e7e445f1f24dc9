"""Transactions that run too long are aborted, ids that nobody uses are forgotten; never early, whatever the clock does.

The wall clock can step. Durations are therefore counted on a monotonic clock, from the first sweep that saw the
transaction open (or the id unchanged): an abort comes late by at most one sweep interval, as in Kafka, and never
early. A monotonic clock says nothing across a restart, so:
* an open transaction gets its whole timeout again after a restart: while the broker was down nobody could finish it;
* the idle time of an id goes on: what the wall clock says once, at the start, is taken as its age, and monotonic time
  is added.
Stamps in records stay on the wall clock; they are for people.
"""

from typing import NamedTuple

from fencepost.transactions.decision import Decision
from fencepost.transactions.ending import end, prepare_fencing
from fencepost.transactions.log_entries import Cause, TransactionLogRecord
from fencepost.transactions.settings import CoordinatorSettings
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import NO_TIMEOUT_MS, Transaction


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


def decide_abort(
    state: CoordinatorState,
    transactional_id: str,
    *,
    settings: CoordinatorSettings,
    cause: Cause | None = None,
    now_ms: int,
) -> Decision[None]:
    """The coordinator's own abort of an open transaction; with nothing open any more it does nothing."""
    transaction = state.transactions.get(transactional_id)
    if transaction is None or transaction.state is not TransactionState.ONGOING:
        return Decision((), None)
    cause = cause or Cause(f"transaction timeout of {transaction.timeout_ms} ms", "", "")
    prepared = prepare_fencing(
        transaction,
        transaction_version=settings.transaction_version,
        fresh_producer_id=state.next_producer_id,
        now_ms=now_ms,
    )
    return Decision(
        end(transaction, prepared, coordinator_epoch=settings.coordinator_epoch, cause=cause, now_ms=now_ms), None
    )


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

    def decide(self, state: CoordinatorState, *, settings: CoordinatorSettings, monotonic_ms: int) -> Decision[None]:
        """Tombstones for all ids that have been idle for `transactional_id_expiration_ms`."""
        sightings: dict[str, Sighting] = {}
        expired = []
        for transactional_id, transaction in state.transactions.items():
            sighting = self._sightings.get(transactional_id)
            if sighting is None or sighting.transaction is not transaction:
                sighting = Sighting(transaction, monotonic_ms, 0)
            sightings[transactional_id] = sighting
            idle_ms = sighting.age_ms + monotonic_ms - sighting.seen_monotonic_ms
            if transaction.state.can_expire and idle_ms >= settings.transactional_id_expiration_ms:
                expired.append(transactional_id)
        self._sightings = sightings
        return Decision(
            tuple(TransactionLogRecord(transactional_id, None) for transactional_id in sorted(expired)), None
        )
