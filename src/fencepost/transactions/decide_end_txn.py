"""EndTxn: commit or abort, in the classic flow (up to v4) and with the epoch bump of KIP-890 (from v5).

What is answered in each state is data, one table for each flow. The classic flow keeps the epoch, so only the state can
tell a repeat. From v5 each end moves the epoch on: a request that carries the epoch before the stored one (`is_retry`)
repeats the end that moved it. Since PREPARE, markers and COMPLETE are one commit group, a repeat never meets its
original half done: it finds Complete* and is answered like the original, once that is synced.

Differences from Kafka. A repeat is recognised only if the finished transaction was ended in the same flow. Otherwise a
transaction of the other flow that happens to sit at the right epoch would pass for it, and a commit that never happened
would be confirmed. And a delayed EndTxn of the classic flow closes its connection (see `state.OpenTransaction`).
"""

from enum import Enum

from fencepost.errors import CloseConnection, ErrorCode, Refusal
from fencepost.transactions.ending import end, identity_after, prepare_bumping_epoch, prepare_keeping_epoch
from fencepost.transactions.log_records import Caller, Decision, cause_of
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import LAST_USABLE_EPOCH, Transaction
from fencepost.types import ProducerIdentity
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

EPOCH_BUMP_SINCE_VERSION = 5


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

# A commit that meets the coordinator's own abort is answered that it is fenced (KAFKA-20785): clients survive that,
# while INVALID_TXN_STATE is fatal to them.
EPOCH_BUMP_FLOW: dict[TransactionState, dict[str, Cell]] = {
    ONGOING: {"commit retry": FENCED, "commit": END, "abort retry": FENCED, "abort": END},
    PREPARE_COMMIT: {"commit retry": BUSY, "commit": FENCED, "abort retry": INVALID, "abort": FENCED},
    PREPARE_ABORT: {"commit retry": INVALID, "commit": FENCED, "abort retry": BUSY, "abort": FENCED},
    COMPLETE_COMMIT: {"commit retry": DONE, "commit": INVALID, "abort retry": INVALID, "abort": END_EMPTY},
    COMPLETE_ABORT: {"commit retry": FENCED, "commit": INVALID, "abort retry": DONE, "abort": END_EMPTY},
    EMPTY: {"commit retry": FENCED, "commit": INVALID, "abort retry": FENCED, "abort": END_EMPTY},
}


def decide_end_txn(
    state: CoordinatorState, request: EndTxnRequest, *, api_version: int, caller: Caller, now_ms: int
) -> Decision[EndTxnResponse] | Refusal | CloseConnection:
    if api_version >= EPOCH_BUMP_SINCE_VERSION:
        return _decide_bumping_epoch(state, request, caller=caller, now_ms=now_ms)
    return _decide_classic(state, request, caller=caller, now_ms=now_ms)


def _decide_classic(
    state: CoordinatorState, request: EndTxnRequest, *, caller: Caller, now_ms: int
) -> Decision[EndTxnResponse] | Refusal | CloseConnection:
    transactional_id = request.transactional_id
    transaction = state.owned_by(transactional_id, ProducerIdentity(request.producer_id, request.producer_epoch))
    if isinstance(transaction, Refusal):
        return transaction
    if transaction.is_kept:
        return Refusal(
            ErrorCode.INVALID_TXN_STATE, f"the kept transaction of {transactional_id!r} is ended by EndTxn v5"
        )
    cell = CLASSIC_FLOW[transaction.state][_result(request)]
    if cell is DONE and transaction.client_transaction_version >= 2:
        cell = INVALID
    if cell is DONE:
        return Decision((), EndTxnResponse())
    if isinstance(cell, ErrorCode):
        return _refuse(state, transaction, request, cell)
    if (opening := state.open_transactions.get(transactional_id)) and opening.is_stranger(caller.connection_id):
        return CloseConnection(
            f"EndTxn for {transactional_id!r} came late: connection {caller.connection_id} is older than the "
            f"open transaction, which came in on connection {opening.opened_on}, and carried nothing of it"
        )
    prepared = prepare_keeping_epoch(transaction, is_commit=request.committed, now_ms=now_ms)
    entries = end(state, prepared, cause=cause_of(f"EndTxn({_result(request)})", caller), now_ms=now_ms)
    return Decision(entries, EndTxnResponse())


def _decide_bumping_epoch(
    state: CoordinatorState, request: EndTxnRequest, *, caller: Caller, now_ms: int
) -> Decision[EndTxnResponse] | Refusal:
    transaction = state.known(request.transactional_id)
    if isinstance(transaction, Refusal):
        return transaction
    presented = ProducerIdentity(request.producer_id, request.producer_epoch)
    is_retry = _is_retry(transaction, presented)
    if not is_retry and isinstance(refusal := state.owned_by(request.transactional_id, presented), Refusal):
        return refusal
    cell = EPOCH_BUMP_FLOW[transaction.state][_result(request) + (" retry" if is_retry else "")]
    if is_retry and transaction.state.is_complete and transaction.client_transaction_version < 2:
        cell = FENCED
    if cell is DONE:
        return Decision((), _response(transaction.identity))
    if isinstance(cell, ErrorCode):
        return _refuse(state, transaction, request, cell)
    prepared = prepare_bumping_epoch(
        transaction,
        is_commit=request.committed,
        client_transaction_version=2,
        fresh_producer_id=state.next_producer_id,
        now_ms=now_ms,
    )
    entries = end(state, prepared, cause=cause_of(f"EndTxn({_result(request)})", caller), now_ms=now_ms)
    return Decision(entries, _response(identity_after(prepared)))


def _result(request: EndTxnRequest) -> str:
    return "commit" if request.committed else "abort"


def _response(next_identity: ProducerIdentity) -> EndTxnResponse:
    """From v5 the answer names the identity to go on with; up to v4 the client keeps the one that it has."""
    return EndTxnResponse(producer_id=next_identity.producer_id, producer_epoch=next_identity.producer_epoch)


def _is_retry(transaction: Transaction, presented: ProducerIdentity) -> bool:
    """The epoch before the stored one; after an overflow that is the last epoch of the producer id before."""
    current = transaction.client_identity
    if presented.producer_id == current.producer_id:
        return presented.producer_epoch + 1 == current.producer_epoch
    return (
        presented == ProducerIdentity(transaction.previous_producer_id, LAST_USABLE_EPOCH)
        and current.producer_epoch == 0
    )


def _refuse(
    state: CoordinatorState, transaction: Transaction, request: EndTxnRequest, error_code: ErrorCode
) -> Refusal:
    if error_code is FENCED:
        presented = ProducerIdentity(request.producer_id, request.producer_epoch)
        return state.refuse(error_code, transaction, presented)
    if error_code is BUSY:
        return Refusal(BUSY, f"the transaction of {request.transactional_id!r} is being finished: ask again")
    return Refusal(
        INVALID,
        f"transactional id {request.transactional_id!r} is {transaction.state.kafka_name}: "
        f"nothing to {_result(request)}",
    )
