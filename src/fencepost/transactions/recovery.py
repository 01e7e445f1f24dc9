"""Roll forward what a crash cut: every id that replay left in Prepare* gets its markers and its COMPLETE.

The commit point is the PREPARE record. A crash may keep any prefix of (PREPARE, markers, COMPLETE); how many markers
made it is not recorded anywhere, so all are written again, and partitions accept repeats. Ids without a PREPARE stay
as they are. Run it after replay and before the first request, append the entries in one commit group.
"""

from fencepost.transactions.decision import Decision
from fencepost.transactions.ending import finish
from fencepost.transactions.log_entries import Cause
from fencepost.transactions.settings import CoordinatorSettings
from fencepost.transactions.state import CoordinatorState

RECOVERY = Cause("roll-forward at recovery", "", "")


def decide_recovery(state: CoordinatorState, *, settings: CoordinatorSettings, now_ms: int) -> list[Decision[None]]:
    """One decision for each id that is decided and not complete, in the order of the ids."""
    return [
        Decision(finish(transaction, coordinator_epoch=settings.coordinator_epoch, cause=RECOVERY, now_ms=now_ms), None)
        for _, transaction in sorted(state.transactions.items())
        if transaction.state.is_prepare
    ]
