"""The states of a transactional producer, and every way between them, as data.

UNINITIALIZED        made; `init_transactions` has not been called.
INITIALIZING         asking the coordinator for an identity.
READY                between transactions.
IN_TRANSACTION       records and offsets may be sent.
COMMITTING_TRANSACTION  `commit_transaction` was called; if it timed out, it is called again.
ABORTING_TRANSACTION    `abort_transaction` was called; if it timed out, it is called again.
ABORTABLE_ERROR      this transaction cannot be committed; `abort_transaction` leads on.
FATAL_ERROR          fenced, or past help; only `close` is left.
"""

from enum import Enum, auto


class State(Enum):
    UNINITIALIZED = auto()
    INITIALIZING = auto()
    READY = auto()
    IN_TRANSACTION = auto()
    COMMITTING_TRANSACTION = auto()
    ABORTING_TRANSACTION = auto()
    ABORTABLE_ERROR = auto()
    FATAL_ERROR = auto()


LEGAL_TRANSITIONS: dict[tuple[State, State], str] = {
    (State.UNINITIALIZED, State.INITIALIZING): "init_transactions",
    (State.INITIALIZING, State.READY): "the coordinator gave an identity",
    (State.READY, State.IN_TRANSACTION): "begin_transaction",
    (State.IN_TRANSACTION, State.COMMITTING_TRANSACTION): "commit_transaction",
    (State.IN_TRANSACTION, State.ABORTING_TRANSACTION): "abort_transaction",
    (State.ABORTABLE_ERROR, State.ABORTING_TRANSACTION): "abort_transaction",
    (State.COMMITTING_TRANSACTION, State.READY): "the coordinator has decided on commit",
    (State.ABORTING_TRANSACTION, State.READY): "the coordinator has decided on abort",
    (State.ABORTING_TRANSACTION, State.INITIALIZING): "numbers were lost: the next epoch is needed (first flow)",
    (State.COMMITTING_TRANSACTION, State.INITIALIZING): "the cluster has moved to the second flow",
    (State.IN_TRANSACTION, State.ABORTABLE_ERROR): "a record, a partition or an offset was refused",
    (State.COMMITTING_TRANSACTION, State.ABORTABLE_ERROR): "a record was refused before the commit was sent",
    (State.ABORTABLE_ERROR, State.ABORTABLE_ERROR): "one more was refused",
    **{(state, State.FATAL_ERROR): "fenced, or past help" for state in State},
}
