"""The causal journal of a transactional id: who changed its identity, when, through which request, from what to what.

`apply` fills it from the records, so it is rebuilt by replay: the cause travels in the record's headers (some 60
bytes, only on records that change an identity). Two bounded rings: with an epoch per transaction every EndTxn is a
change, and those must not push out the take-over that a zombie must learn of. Memory holds the last 16 take-overs
and the last four ends of an id, a checkpoint the last two and the last one: enough for the usual zombie, whose
transaction was aborted (first change) by the one that took over (second change).
"""

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from fencepost.transactions.log_records import Cause
from fencepost.transactions.transaction import Transaction
from fencepost.types import ProducerIdentity

TAKE_OVERS_KEPT = 16
ENDS_KEPT = 4
TAKE_OVERS_IN_CHECKPOINT = 2
ENDS_IN_CHECKPOINT = 1

END_REQUEST = "EndTxn"


class IdentityChange(NamedTuple):
    at_ms: int
    cause: Cause
    before: ProducerIdentity
    after: ProducerIdentity

    @property
    def is_end(self) -> bool:
        """An owner that ended its own transaction; anything else takes the identity away from another."""
        return self.cause.request.startswith(END_REQUEST)


class FencingJournal:
    __slots__ = ("_ends", "_take_overs")

    def __init__(self, changes: Iterable[IdentityChange] = ()) -> None:
        self._take_overs: deque[IdentityChange] = deque(maxlen=TAKE_OVERS_KEPT)
        self._ends: deque[IdentityChange] = deque(maxlen=ENDS_KEPT)
        for change in changes:
            self.note(change)

    @property
    def changes(self) -> list[IdentityChange]:
        """Take-overs, then ends; each oldest first."""
        return [*self._take_overs, *self._ends]

    def changes_for_checkpoint(self) -> list[IdentityChange]:
        return [*list(self._take_overs)[-TAKE_OVERS_IN_CHECKPOINT:], *list(self._ends)[-ENDS_IN_CHECKPOINT:]]

    def note(self, change: IdentityChange) -> None:
        (self._ends if change.is_end else self._take_overs).append(change)

    def change_away_from(self, identity: ProducerIdentity) -> IdentityChange | None:
        """The change that fenced `identity`, if it is still remembered."""
        for change in reversed(self.changes):
            if change.before == identity:
                return change
        return None


def explain_fencing(transaction: Transaction, journal: FencingJournal | None, presented: ProducerIdentity) -> str:
    """Who fenced a producer, when, how, from which epoch to which: one sentence on what was presented and what is
    current, one on the change between them."""
    current = transaction.client_identity
    first = f"transactional id {transaction.transactional_id!r} is at {current}, the request came with {presented}."
    if presented > current and presented.producer_id == current.producer_id:
        return f"{first} That epoch was never handed out."
    change = journal.change_away_from(presented) if journal is not None else None
    if change is None:
        return f"{first} Who replaced it is not among the last {TAKE_OVERS_KEPT} changes."
    return f"{first} {describe_change(change)}."


def describe_change(change: IdentityChange) -> str:
    return (
        f"{change.cause.request} {_by(change)} at {format_time(change.at_ms)} moved it "
        f"from {change.before} to {change.after}"
    )


def format_time(at_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds; a stamp outside the calendar stays a number."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, tz=UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms"


def _by(change: IdentityChange) -> str:
    if not change.cause.client_id and not change.cause.address:
        return "by the coordinator"
    return f"by client {change.cause.client_id!r} from {change.cause.address}"
