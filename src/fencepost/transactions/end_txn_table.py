"""What EndTxn answers in each state, as data: one table for each flow.

The classic flow (up to v4) keeps the epoch, so only the state can tell a repeat. From v5 each end moves the epoch on: a
request that carries the epoch before the stored one (`is_retry`) repeats the end that moved it.
"""

from enum import Enum

from fencepost.errors import ErrorCode
from fencepost.transactions.states import TransactionState


class EndTxnAction(Enum):
    END = "decide the transaction"
    END_EMPTY = "abort with nothing open: the epoch moves on"
    DONE = "it was done before: answer the same"


Cell = EndTxnAction | ErrorCode

ONGOING = TransactionState.ONGOING
EMPTY = TransactionState.EMPTY
PREPARE_COMMIT = TransactionState.PREPARE_COMMIT
PREPARE_ABORT = TransactionState.PREPARE_ABORT
COMPLETE_COMMIT = TransactionState.COMPLETE_COMMIT
COMPLETE_ABORT = TransactionState.COMPLETE_ABORT

END = EndTxnAction.END
END_EMPTY = EndTxnAction.END_EMPTY
DONE = EndTxnAction.DONE
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS
INVALID = ErrorCode.INVALID_TXN_STATE
FENCED = ErrorCode.PRODUCER_FENCED

CLASSIC_FLOW: dict[TransactionState, dict[str, Cell]] = {
    ONGOING: {"commit": END, "abort": END},
    PREPARE_COMMIT: {"commit": BUSY, "abort": INVALID},
    PREPARE_ABORT: {"commit": INVALID, "abort": BUSY},
    COMPLETE_COMMIT: {"commit": DONE, "abort": INVALID},
    COMPLETE_ABORT: {"commit": INVALID, "abort": DONE},
    EMPTY: {"commit": INVALID, "abort": INVALID},
}

# A commit that meets the coordinator's own abort is told that it is fenced (KAFKA-20785): clients survive that, while
# INVALID_TXN_STATE is fatal to them.
EPOCH_BUMP_FLOW: dict[TransactionState, dict[str, Cell]] = {
    ONGOING: {"commit retry": FENCED, "commit": END, "abort retry": FENCED, "abort": END},
    PREPARE_COMMIT: {"commit retry": BUSY, "commit": FENCED, "abort retry": INVALID, "abort": FENCED},
    PREPARE_ABORT: {"commit retry": INVALID, "commit": FENCED, "abort retry": BUSY, "abort": FENCED},
    COMPLETE_COMMIT: {"commit retry": DONE, "commit": INVALID, "abort retry": INVALID, "abort": END_EMPTY},
    COMPLETE_ABORT: {"commit retry": FENCED, "commit": INVALID, "abort retry": DONE, "abort": END_EMPTY},
    EMPTY: {"commit retry": FENCED, "commit": INVALID, "abort retry": FENCED, "abort": END_EMPTY},
}


def classic_cell(state: TransactionState, *, is_commit: bool) -> Cell:
    return CLASSIC_FLOW[state]["commit" if is_commit else "abort"]


def epoch_bump_cell(state: TransactionState, *, is_commit: bool, is_retry: bool) -> Cell:
    return EPOCH_BUMP_FLOW[state][("commit" if is_commit else "abort") + (" retry" if is_retry else "")]
