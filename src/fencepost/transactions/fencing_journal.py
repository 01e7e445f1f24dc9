"""The causal journal of a transactional id: who changed its identity, when, through which request, from what to what.

`apply` fills it from the records, so it is rebuilt by replay: the cause travels in the record's headers (some 60
bytes, only on records that change an identity). Memory holds the last 16 changes of an id, a checkpoint the last two:
enough for the usual zombie, whose transaction was aborted (first change) by the one that took over (second change).
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from fencepost.transactions.log_entries import Cause
from fencepost.transactions.transaction import ProducerIdentity

CHANGES_KEPT = 16
CHANGES_IN_CHECKPOINT = 2


class IdentityChange(NamedTuple):
    at_ms: int
    cause: Cause
    before: ProducerIdentity
    after: ProducerIdentity


class FencingJournal:
    """A bounded ring of identity changes, oldest first."""

    __slots__ = ("_changes",)

    def __init__(self, changes: Iterable[IdentityChange] = ()) -> None:
        self._changes = deque(changes, maxlen=CHANGES_KEPT)

    @property
    def changes(self) -> list[IdentityChange]:
        return list(self._changes)

    def note(self, change: IdentityChange) -> None:
        self._changes.append(change)

    def change_away_from(self, identity: ProducerIdentity) -> IdentityChange | None:
        """The change that fenced `identity`, if it is still remembered."""
        for change in reversed(self._changes):
            if change.before == identity:
                return change
        return None
