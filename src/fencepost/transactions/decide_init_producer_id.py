"""InitProducerId: a fresh identity for a transactional id, after whatever the previous owner left open is aborted.

A bare request takes the id over. One with (producer id, epoch) comes from the owner itself (KIP-360) and is refused
if it no longer is the owner; the same request sent twice gets the same answer, also across a restart.

Differences from Kafka, both in favour of the living owner:
* (producer id, epoch) that is not the current identity is refused with 90 at once while a transaction is open. Kafka
  checks only the producer id there, lets the stale request abort the newer owner's transaction, and refuses the
  retry.
* A retry that arrives when its answer was the last usable epoch is recognised; Kafka answers -1.
"""

from fencepost.errors import ErrorCode, Refusal
from fencepost.settings import BrokerSettings
from fencepost.transactions.ending import fence
from fencepost.transactions.log_records import Caller, Decision, ProducerIdsRecord, cause_of, record_of
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import NO_TIMEOUT_MS, Transaction, is_exhausted, next_identity
from fencepost.types import NO_IDENTITY, NO_PRODUCER_EPOCH, NO_TIMESTAMP, ProducerIdentity
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

TRANSACTIONAL_ID_BYTES_MAX = 2**15 - 1
"""The key of a record in `__transaction_state` cannot hold a longer one, though flexible requests can."""


def decide_init_producer_id(
    state: CoordinatorState, request: InitProducerIdRequest, *, caller: Caller, now_ms: int
) -> Decision[InitProducerIdResponse] | Refusal:
    presented = ProducerIdentity(request.producer_id, request.producer_epoch)
    is_bare = presented == NO_IDENTITY
    if (presented.producer_id == -1) != (presented.producer_epoch == -1):
        return Refusal(ErrorCode.INVALID_REQUEST, f"{presented}: give both or neither")
    if request.transactional_id is None:
        return decide_allocate_producer_id(state)
    if (refusal := _refuse_request(request, state.settings)) is not None:
        return refusal
    transaction = state.transactions.get(request.transactional_id)
    if transaction is None:
        return _create(state, request, caller=caller, now_ms=now_ms)
    if not is_bare and not _is_acceptable_producer_id(transaction, presented):
        return state.refuse(ErrorCode.PRODUCER_FENCED, transaction, presented)
    if transaction.state.is_prepare:
        return _concurrent(transaction, "is being finished")
    if transaction.state is not TransactionState.ONGOING:
        return _initialise(state, transaction, request, caller=caller, now_ms=now_ms)
    if not is_bare and presented != transaction.client_identity:
        return state.refuse(ErrorCode.PRODUCER_FENCED, transaction, presented)
    if request.keep_prepared_txn:
        return decide_keep_prepared(state, transaction, caller=caller, now_ms=now_ms)
    # The one that has the transaction open is fenced. As in Kafka the caller has to ask again for its identity.
    entries = fence(state, transaction, cause=cause_of("InitProducerId", caller), now_ms=now_ms)
    return Decision(entries, _concurrent(transaction, "had a transaction open, which is aborted"))


def decide_keep_prepared(
    state: CoordinatorState, transaction: Transaction, *, caller: Caller, now_ms: int
) -> Decision[InitProducerIdResponse]:
    """InitProducerId v6 with keepPreparedTxn on an open transaction (KIP-939): fence the old client, keep the
    transaction.

    The transaction stays under its own identity; the client gets a second one, and only that one may end it. Each
    further call moves the client's identity on. The answer names both, so that an external coordinator can compare the
    kept identity with the one that it wrote down. Kafka has the schema but answers 35; the rules are those of the KIP's
    pull request.
    """
    client = next_identity(transaction.client_identity, fresh_producer_id=state.next_producer_id)
    kept = transaction.moved_to(
        TransactionState.ONGOING,
        now_ms=now_ms,
        next_producer_id=client.producer_id,
        next_producer_epoch=client.producer_epoch,
    )
    record = record_of(transaction, kept, cause_of("InitProducerId(keepPreparedTxn)", caller))
    response = InitProducerIdResponse(
        producer_id=client.producer_id,
        producer_epoch=client.producer_epoch,
        ongoing_txn_producer_id=transaction.producer_id,
        ongoing_txn_producer_epoch=transaction.producer_epoch,
    )
    return Decision((record,), response)


def decide_allocate_producer_id(state: CoordinatorState) -> Decision[InitProducerIdResponse]:
    """A fresh producer id at epoch 0, tied to no transactional id. Ids are handed out in order, never twice.

    Kafka reserves blocks of 1000 because its coordinators ask a controller over the network. Here an id that belongs to
    a transactional id is reserved by that id's own record, and one for a merely idempotent producer by a
    `ProducerIdsRecord`: the next id is a fold over the journal like everything else, there are no gaps after a restart,
    and nothing is held in memory that a crash could make us forget. The cost is one small record for each idempotent
    producer that starts.
    """
    producer_id = state.next_producer_id
    reserved = ProducerIdsRecord(next_producer_id=producer_id + 1)
    return Decision((reserved,), InitProducerIdResponse(producer_id=producer_id))


def _refuse_request(request: InitProducerIdRequest, settings: BrokerSettings) -> Refusal | None:
    is_two_phase_on = settings.transaction_two_phase_commit_enable
    if not request.transactional_id:
        return Refusal(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
    if len(request.transactional_id.encode()) > TRANSACTIONAL_ID_BYTES_MAX:
        return Refusal(
            ErrorCode.INVALID_REQUEST, f"the transactional id has more than {TRANSACTIONAL_ID_BYTES_MAX} bytes"
        )
    if request.enable2_pc and not is_two_phase_on:
        return Refusal(
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transaction.two.phase.commit.enable is off on this broker"
        )
    if request.keep_prepared_txn and not is_two_phase_on:
        return Refusal(ErrorCode.UNSUPPORTED_VERSION, "keepPreparedTxn needs transaction.two.phase.commit.enable")
    if not request.enable2_pc and not 0 < request.transaction_timeout_ms <= settings.transaction_max_timeout_ms:
        return Refusal(
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
            f"transaction.timeout.ms is {request.transaction_timeout_ms}, "
            f"allowed is 1 to transaction.max.timeout.ms = {settings.transaction_max_timeout_ms}",
        )
    return None


def _timeout_ms(request: InitProducerIdRequest) -> int:
    return NO_TIMEOUT_MS if request.enable2_pc else request.transaction_timeout_ms


def _create(
    state: CoordinatorState, request: InitProducerIdRequest, *, caller: Caller, now_ms: int
) -> Decision[InitProducerIdResponse] | Refusal:
    """An id that is not known, or no longer: a presented identity does not matter, it gets a fresh one."""
    ids_max = state.settings.transactional_ids_max
    if len(state.transactions) >= ids_max:
        return Refusal(
            ErrorCode.POLICY_VIOLATION,
            f"transactional.ids.max = {ids_max} transactional ids are in use; "
            f"unused ones are forgotten after transactional.id.expiration.ms",
        )
    created = Transaction(
        transactional_id=request.transactional_id or "",
        producer_id=state.next_producer_id,
        producer_epoch=0,
        timeout_ms=_timeout_ms(request),
        state=TransactionState.EMPTY,
        last_update_timestamp_ms=now_ms,
    )
    return _decide(created, before=None, caller=caller)


def _is_acceptable_producer_id(transaction: Transaction, presented: ProducerIdentity) -> bool:
    if presented.producer_id == transaction.client_identity.producer_id:
        return True
    return presented.producer_id == transaction.previous_producer_id and is_exhausted(presented.producer_epoch)


def _initialise(
    state: CoordinatorState, transaction: Transaction, request: InitProducerIdRequest, *, caller: Caller, now_ms: int
) -> Decision[InitProducerIdResponse] | Refusal:
    """Nothing is open: bump, or recognise a retry."""
    presented = ProducerIdentity(request.producer_id, request.producer_epoch)
    is_bare = presented == NO_IDENTITY
    identity, last_epoch = transaction.identity, transaction.last_producer_epoch
    previous_producer_id = transaction.previous_producer_id
    if is_bare or presented != _identity_before(transaction):
        if not is_bare and presented != transaction.identity:
            return state.refuse(ErrorCode.PRODUCER_FENCED, transaction, presented)
        identity = next_identity(transaction.identity, fresh_producer_id=state.next_producer_id)
        last_epoch = NO_PRODUCER_EPOCH if is_bare else presented.producer_epoch
        previous_producer_id = transaction.producer_id
    initialised = transaction.moved_to(
        TransactionState.EMPTY,
        now_ms=now_ms,
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        last_producer_epoch=last_epoch,
        previous_producer_id=previous_producer_id,
        timeout_ms=_timeout_ms(request),
        partitions=frozenset(),
        start_timestamp_ms=NO_TIMESTAMP,
    )
    return _decide(initialised, before=transaction, caller=caller)


def _identity_before(transaction: Transaction) -> ProducerIdentity:
    """What a retry of the request that led here carries. A last epoch above the current is the old producer id's."""
    is_rotated = transaction.last_producer_epoch > transaction.producer_epoch
    producer_id = transaction.previous_producer_id if is_rotated else transaction.producer_id
    return ProducerIdentity(producer_id, transaction.last_producer_epoch)


def _decide(
    initialised: Transaction, *, before: Transaction | None, caller: Caller
) -> Decision[InitProducerIdResponse]:
    record = record_of(before, initialised, cause_of("InitProducerId", caller))
    response = InitProducerIdResponse(producer_id=initialised.producer_id, producer_epoch=initialised.producer_epoch)
    return Decision((record,), response)


def _concurrent(transaction: Transaction, why: str) -> Refusal:
    return Refusal(
        ErrorCode.CONCURRENT_TRANSACTIONS, f"transactional id {transaction.transactional_id!r} {why}: ask again"
    )
