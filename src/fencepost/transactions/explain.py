"""Fencing, explained: the words of a refusal that say who fenced a producer, when, how, from which epoch to which."""

from datetime import UTC, datetime

from fencepost.transactions.fencing_journal import TAKE_OVERS_KEPT, FencingJournal, IdentityChange
from fencepost.transactions.transaction import ProducerIdentity, Transaction


def explain_fencing(transaction: Transaction, journal: FencingJournal | None, presented: ProducerIdentity) -> str:
    """One sentence on what was presented and what is current, one on the change between them."""
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
