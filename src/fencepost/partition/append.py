"""Whether a batch of records may be appended: duplicates, epochs, sequences, open transactions; in Kafka's order.

`decide_append` judges one batch with a producer id by what the partition remembers of that producer. Sequences are
checked for clients only: the group coordinator's transactional offsets have none. A duplicate is answered
with the offsets that the batch got the first time, once those are below the high watermark.
Batches that only the coordinator may write, the markers, are `markers.decide_marker`.
"""

from enum import Enum
from typing import NamedTuple

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.partition import PartitionState, VerificationGuard
from fencepost.partition.producer_state import ProducerState
from fencepost.records.header import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader
from fencepost.records.record import increment_sequence
from fencepost.types import NO_PRODUCER_EPOCH


class AppendOrigin(Enum):
    CLIENT = "client"
    COORDINATOR = "coordinator"


class Append(NamedTuple):
    """The batch may be written, stamped with these."""

    base_offset: int
    leader_epoch: int


class Duplicate(NamedTuple):
    """The batch is in the log already: write nothing, answer success with these."""

    base_offset: int
    last_offset: int
    timestamp: int


_UNKNOWN_PRODUCER = ProducerState()
"""Stands for a producer id without state; nothing ever changes it."""


def decide_append(
    state: PartitionState,
    header: BatchHeader,
    *,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    guard_id: int | None = None,
    is_verification_enabled: bool = True,
) -> Append | Duplicate | Refusal:
    """`guard_id` is the guard under which the coordinator agreed, if it was asked."""
    is_client = origin is AppendOrigin.CLIENT
    if refusal := _malformed_refusal(header, is_client=is_client):
        return refusal
    if header.producer_id < 0:
        return Append(state.end_offset, state.leader_epochs.latest)
    producer = state.producers.get(header.producer_id, _UNKNOWN_PRODUCER)
    if is_client and (cached := producer.find_duplicate(header)):
        return Duplicate(cached.base_offset, cached.last_offset, cached.timestamp)
    if header.producer_epoch < producer.producer_epoch:
        return _epoch_refusal(header, producer)
    is_transactional = header.attributes & TRANSACTIONAL_FLAG
    if (
        is_transactional
        and is_verification_enabled
        and not producer.has_open_transaction_of(header.producer_epoch)
        and not _is_current_guard(state, header.producer_id, guard_id)
    ):
        return _unverified_refusal(header)
    if is_client and (refusal := _sequence_refusal(state, header, producer)):
        return refusal
    if producer.has_open_transaction and not is_transactional:
        return _not_transactional_refusal(header, producer)
    return Append(state.end_offset, state.leader_epochs.latest)


def _is_current_guard(state: PartitionState, producer_id: int, guard_id: int | None) -> bool:
    guard = state.guards.get(producer_id)
    return guard is not None and guard.guard_id == guard_id


def _malformed_refusal(header: BatchHeader, *, is_client: bool) -> Refusal | None:
    if header.attributes & CONTROL_FLAG:
        return Refusal(ErrorCode.INVALID_RECORD, "control batches are the transaction coordinator's to write")
    if header.producer_id < 0:
        if header.attributes & TRANSACTIONAL_FLAG:
            return Refusal(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "a transactional batch needs a producer id")
    elif is_client and header.base_sequence < 0:
        return Refusal(
            ErrorCode.INVALID_RECORD,
            f"batch of producer {header.producer_id} has base sequence {header.base_sequence}: 0 or more is needed",
        )
    return None


def _sequence_refusal(state: PartitionState, header: BatchHeader, producer: ProducerState) -> Refusal | None:
    base_sequence = header.base_sequence
    if producer.producer_epoch != NO_PRODUCER_EPOCH:
        is_same_epoch = header.producer_epoch == producer.producer_epoch
        expected = increment_sequence(producer.last_sequence, 1) if is_same_epoch else 0
        return None if base_sequence == expected else _out_of_order(header, producer, expected=expected)
    # KIP-360: a producer that the partition does not know may start anywhere. KIP-890 makes two exceptions: where every
    # transaction has its own epoch it starts at 0, and no batch may overtake a lower one that waits for verification.
    guard = state.guards.get(header.producer_id)
    if guard is None:
        return None
    if guard.supports_epoch_bump and base_sequence != 0:
        return _out_of_order(header, producer, expected=0)
    if base_sequence > guard.lowest_sequence:
        return _out_of_order(header, producer, expected=guard.lowest_sequence)
    return None


def _out_of_order(header: BatchHeader, producer: ProducerState, *, expected: int) -> Refusal:
    return Refusal(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} epoch {header.producer_epoch} sent sequence {header.base_sequence}, "
        f"expected {expected} (the partition has seen epoch {producer.producer_epoch}, "
        f"last sequence {producer.last_sequence})",
    )


def _epoch_refusal(header: BatchHeader, producer: ProducerState) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"producer {header.producer_id} has epoch {header.producer_epoch}, the partition has seen "
        f"{producer.producer_epoch}: the transaction has ended or another instance has taken over; abort",
    )


def _unverified_refusal(header: BatchHeader) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_TXN_STATE,
        f"producer {header.producer_id} epoch {header.producer_epoch} has no open transaction on this partition "
        "and none that the coordinator has just confirmed",
    )


def _not_transactional_refusal(header: BatchHeader, producer: ProducerState) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_TXN_STATE,
        f"producer {header.producer_id} epoch {header.producer_epoch} sent a batch outside a transaction while its "
        f"transaction that began at offset {producer.current_txn_first_offset} is open",
    )


# Whether the coordinator may end a producer's transaction on a partition with a marker.
#
# Up to transaction version 1 a marker carries the epoch of the data, so it may not be below what the partition has
# seen. In version 2 (KIP-890) it carries the next epoch, so it must be above it: a late marker cannot end the next
# transaction. The exception is a marker written twice, after a lost answer or a restart of the coordinator: equal
# epoch and nothing open. Refusing that would leave the transaction prepared forever (KAFKA-19999).


PRODUCER_EPOCH_MAX = 32767
"""Reserved for the coordinator, so that it can always fence: no transaction of a client can be open with it."""


def decide_marker(
    state: PartitionState, *, producer_id: int, producer_epoch: int, coordinator_epoch: int, transaction_version: int
) -> Append | Refusal:
    producer = state.producers.get(producer_id)
    if producer is not None:
        if _is_epoch_too_low(producer, producer_epoch, transaction_version):
            return Refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"marker of producer {producer_id} has epoch {producer_epoch} (transaction version "
                f"{transaction_version}), the partition has seen {producer.producer_epoch}",
            )
        if coordinator_epoch < producer.coordinator_epoch:
            return Refusal(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"marker of producer {producer_id} comes from coordinator epoch {coordinator_epoch}, "
                f"the partition has seen {producer.coordinator_epoch}",
            )
    return Append(state.end_offset, state.leader_epochs.latest)


def _is_epoch_too_low(producer: ProducerState, marker_epoch: int, transaction_version: int) -> bool:
    if transaction_version < 2 or marker_epoch != producer.producer_epoch:
        return marker_epoch < producer.producer_epoch
    return producer.has_open_transaction and marker_epoch != PRODUCER_EPOCH_MAX


# Whether the coordinator must be asked before a transactional batch is appended, and with which guard (KIP-890).
#
# While the coordinator is asked a marker may end the transaction. The marker clears the guard, and the append, which
# must show the guard that is current by then, is refused instead of opening a transaction that nobody ends.


class NothingToAsk(Enum):
    """The transaction is open on this partition, so the coordinator knows of it."""

    NOTHING_TO_ASK = "nothing to ask"


NOTHING_TO_ASK = NothingToAsk.NOTHING_TO_ASK


class AskCoordinator(NamedTuple):
    """Install the guard with `apply_verification`, ask, and show `guard.guard_id` to `decide_append`."""

    producer_id: int
    guard: VerificationGuard


def decide_verification(
    state: PartitionState,
    *,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    supports_epoch_bump: bool,
    now_ms: int,
) -> NothingToAsk | AskCoordinator | Refusal:
    producer = state.producers.get(producer_id)
    if producer is not None:
        if producer_epoch < producer.producer_epoch:
            return Refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {producer_id} has epoch {producer_epoch}, the partition has seen {producer.producer_epoch}: "
                "the transaction has ended or another instance has taken over; abort",
            )
        if producer.has_open_transaction_of(producer_epoch):
            return NOTHING_TO_ASK
    guard = state.guards.get(producer_id)
    if guard is None:
        guard = VerificationGuard(state.next_guard_id, producer_epoch, base_sequence, supports_epoch_bump, now_ms)
    else:
        guard = guard.joined_by(
            producer_epoch=producer_epoch, base_sequence=base_sequence, supports_epoch_bump=supports_epoch_bump
        )
    return AskCoordinator(producer_id, guard)


def apply_verification(state: PartitionState, ask: AskCoordinator) -> None:
    state.guards[ask.producer_id] = ask.guard
    state.next_guard_id = max(state.next_guard_id, ask.guard.guard_id + 1)
