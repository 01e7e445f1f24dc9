"""EndTxn: commit or abort, in the classic flow (up to v4) and with the epoch bump of KIP-890 (from v5).

The tables are in `end_txn_table`; here are the checks before them. Since PREPARE, markers and COMPLETE are one commit
group, a repeat never meets its original half done: it finds Complete* and is answered like the original, once that is
synced.

Differences from Kafka. A repeat is recognised only if the finished transaction was ended in the same flow. Otherwise a
transaction of the other flow that happens to sit at the right epoch would pass for it, and a commit that never happened
would be confirmed. And a delayed EndTxn of the classic flow closes its connection (see `open_transactions`).
"""

from dataclasses import dataclass
from enum import Enum

from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.decision import CloseConnection, CoordinatorSettings, Decision, EndTxnReply
from fencepost.transactions.ending import end, identity_after, prepare_bumping_epoch, prepare_keeping_epoch
from fencepost.transactions.log_records import Caller, cause_of
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import LAST_USABLE_EPOCH, ProducerIdentity, Transaction

# What EndTxn answers in each state, as data: one table for each flow.
#
# The classic flow (up to v4) keeps the epoch, so only the state can tell a repeat. From v5 each end moves the epoch
# on: a request that carries the epoch before the stored one (`is_retry`) repeats the end that moved it.


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


EPOCH_BUMP_SINCE_VERSION = 5

Outcome = Decision[EndTxnReply] | Refusal | CloseConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTxn:
    transactional_id: str
    presented: ProducerIdentity
    is_commit: bool
    api_version: int

    @property
    def bumps_epoch(self) -> bool:
        return self.api_version >= EPOCH_BUMP_SINCE_VERSION


def decide_end_txn(
    state: CoordinatorState, request: EndTxn, *, settings: CoordinatorSettings, caller: Caller, now_ms: int
) -> Outcome:
    decide = _decide_bumping_epoch if request.bumps_epoch else _decide_classic
    return decide(state, request, settings=settings, caller=caller, now_ms=now_ms)


def _decide_classic(
    state: CoordinatorState, request: EndTxn, *, settings: CoordinatorSettings, caller: Caller, now_ms: int
) -> Outcome:
    transaction = state.owned_by(request.transactional_id, request.presented)
    if isinstance(transaction, Refusal):
        return transaction
    if transaction.is_kept:
        return Refusal(
            ErrorCode.INVALID_TXN_STATE, f"the kept transaction of {request.transactional_id!r} is ended by EndTxn v5"
        )
    cell = classic_cell(transaction.state, is_commit=request.is_commit)
    if cell is EndTxnAction.DONE and transaction.client_transaction_version >= 2:
        cell = ErrorCode.INVALID_TXN_STATE
    if cell is EndTxnAction.DONE:
        return Decision((), EndTxnReply())
    if isinstance(cell, ErrorCode):
        return _refuse(state, transaction, request, cell)
    if (opening := state.open_transactions.get(request.transactional_id)) and opening.is_stranger(caller.connection_id):
        return CloseConnection(
            f"EndTxn for {request.transactional_id!r} came late: connection {caller.connection_id} is older than the "
            f"open transaction, which came in on connection {opening.opened_on}, and carried nothing of it"
        )
    prepared = prepare_keeping_epoch(transaction, is_commit=request.is_commit, now_ms=now_ms)
    return _end(transaction, prepared, EndTxnReply(), settings=settings, caller=caller, now_ms=now_ms)


def _decide_bumping_epoch(
    state: CoordinatorState, request: EndTxn, *, settings: CoordinatorSettings, caller: Caller, now_ms: int
) -> Outcome:
    transaction = state.known(request.transactional_id)
    if isinstance(transaction, Refusal):
        return transaction
    is_retry = _is_retry(transaction, request.presented)
    if not is_retry and transaction.client_identity.producer_id != request.presented.producer_id:
        return state.refuse(ErrorCode.INVALID_PRODUCER_ID_MAPPING, transaction, request.presented)
    if not is_retry and transaction.client_identity.producer_epoch != request.presented.producer_epoch:
        return state.refuse(ErrorCode.PRODUCER_FENCED, transaction, request.presented)
    cell = epoch_bump_cell(transaction.state, is_commit=request.is_commit, is_retry=is_retry)
    if is_retry and transaction.state.is_complete and transaction.client_transaction_version < 2:
        cell = ErrorCode.PRODUCER_FENCED
    if cell is EndTxnAction.DONE:
        return Decision((), EndTxnReply(*transaction.identity))
    if isinstance(cell, ErrorCode):
        return _refuse(state, transaction, request, cell)
    prepared = prepare_bumping_epoch(
        transaction,
        is_commit=request.is_commit,
        client_transaction_version=2,
        fresh_producer_id=state.next_producer_id,
        now_ms=now_ms,
    )
    reply = EndTxnReply(*identity_after(prepared))
    return _end(transaction, prepared, reply, settings=settings, caller=caller, now_ms=now_ms)


def _is_retry(transaction: Transaction, presented: ProducerIdentity) -> bool:
    """The epoch before the stored one; after an overflow that is the last epoch of the producer id before."""
    current = transaction.client_identity
    if presented.producer_id == current.producer_id:
        return presented.producer_epoch + 1 == current.producer_epoch
    return (
        presented == ProducerIdentity(transaction.previous_producer_id, LAST_USABLE_EPOCH)
        and current.producer_epoch == 0
    )


def _refuse(state: CoordinatorState, transaction: Transaction, request: EndTxn, error_code: Cell) -> Refusal:
    if error_code is ErrorCode.PRODUCER_FENCED:
        return state.refuse(error_code, transaction, request.presented)
    if error_code is ErrorCode.CONCURRENT_TRANSACTIONS:
        message = f"the transaction of {request.transactional_id!r} is being finished: ask again"
        return Refusal(ErrorCode.CONCURRENT_TRANSACTIONS, message)
    wanted = "commit" if request.is_commit else "abort"
    return Refusal(
        ErrorCode.INVALID_TXN_STATE,
        f"transactional id {request.transactional_id!r} is {transaction.state.kafka_name}: nothing to {wanted}",
    )


def _end(
    transaction: Transaction,
    prepared: Transaction,
    reply: EndTxnReply,
    *,
    settings: CoordinatorSettings,
    caller: Caller,
    now_ms: int,
) -> Decision[EndTxnReply]:
    result = "commit" if prepared.state is TransactionState.PREPARE_COMMIT else "abort"
    cause = cause_of(f"EndTxn({result})", caller)
    entries = end(transaction, prepared, coordinator_epoch=settings.coordinator_epoch, cause=cause, now_ms=now_ms)
    return Decision(entries, reply)
