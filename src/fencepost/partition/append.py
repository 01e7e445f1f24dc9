"""Whether a batch may be appended to a partition: a client's, a group coordinator's, or a marker; in Kafka's order.

`decide_append` judges one batch with a producer id by what the partition remembers of that producer. Sequences are
checked for clients only: the group coordinator's transactional offsets have none. A duplicate is answered
with the offsets that the batch got the first time, once those are below the high watermark. Before the first batch of
a transaction the transaction coordinator is asked (KIP-890), in the same step, so nothing comes between its answer and
the append; `is_transaction_open` says whether it must be.

`decide_marker` judges what ends a transaction. Up to transaction version 1 a marker carries the epoch of the data, so
it may not be below what the partition has seen. In version 2 (KIP-890) it carries the next epoch, so it must be above
it: a late marker cannot end the next transaction. The exception is a marker written twice, after a lost answer or a
restart of the coordinator: equal epoch and nothing open. Refusing that would leave the transaction prepared forever
(KAFKA-19999).
"""

from enum import Enum
from typing import NamedTuple

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.partition import PartitionState, WaitingBatch
from fencepost.partition.producer_state import ProducerState
from fencepost.records.header import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader
from fencepost.records.record import increment_sequence
from fencepost.types import NO_PRODUCER_EPOCH

PRODUCER_EPOCH_MAX = 32767
"""Reserved for the coordinator, so that it can always fence: no transaction of a client can be open with it."""


class AppendOrigin(Enum):
    CLIENT = "client"
    COORDINATOR = "coordinator"


class Append(NamedTuple):
    """The batch may be written, from this offset on."""

    base_offset: int


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
    has_epoch_per_transaction: bool = False,
) -> Append | Duplicate | Refusal:
    """`has_epoch_per_transaction` says that the batch is of a transaction of version 2 (KIP-890)."""
    is_client = origin is AppendOrigin.CLIENT
    if refusal := _malformed_refusal(header, is_client=is_client):
        return refusal
    if header.producer_id < 0:
        return Append(state.end_offset)
    producer = state.producers.get(header.producer_id, _UNKNOWN_PRODUCER)
    if is_client and (cached := producer.find_duplicate(header)):
        return Duplicate(cached.base_offset, cached.last_offset, cached.timestamp)
    if header.producer_epoch < producer.producer_epoch:
        return _epoch_refusal(header.producer_id, header.producer_epoch, producer)
    if is_client and (refusal := _sequence_refusal(state, header, producer, has_epoch_per_transaction)):
        return refusal
    if producer.has_open_transaction and not header.attributes & TRANSACTIONAL_FLAG:
        return _not_transactional_refusal(header, producer)
    return Append(state.end_offset)


def is_transaction_open(state: PartitionState, *, producer_id: int, producer_epoch: int) -> bool | Refusal:
    """Whether the transaction is open on this partition, so that the coordinator need not be asked about it."""
    producer = state.producers.get(producer_id, _UNKNOWN_PRODUCER)
    if producer_epoch < producer.producer_epoch:
        return _epoch_refusal(producer_id, producer_epoch, producer)
    return producer.has_open_transaction_of(producer_epoch)


def expect_batch(
    state: PartitionState, *, producer_id: int, producer_epoch: int, base_sequence: int, now_ms: int
) -> None:
    """A batch of the classic flow is about to be judged: of a producer that the partition does not know, no later one
    may be stored before it."""
    if producer_id in state.producers:
        return
    waiting = state.waiting.get(producer_id) or WaitingBatch(producer_epoch, base_sequence, now_ms)
    state.waiting[producer_id] = waiting.joined_by(producer_epoch=producer_epoch, base_sequence=base_sequence)


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


def _sequence_refusal(
    state: PartitionState, header: BatchHeader, producer: ProducerState, has_epoch_per_transaction: bool
) -> Refusal | None:
    if producer.producer_epoch == NO_PRODUCER_EPOCH and not has_epoch_per_transaction:
        # KIP-360: a producer that the partition does not know may start anywhere, but not overtake itself.
        waiting = state.waiting.get(header.producer_id)
        expected = header.base_sequence if waiting is None else min(header.base_sequence, waiting.lowest_sequence)
    elif header.producer_epoch == producer.producer_epoch:
        expected = increment_sequence(producer.last_sequence, 1)
    else:
        expected = 0
    if header.base_sequence == expected:
        return None
    return Refusal(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} epoch {header.producer_epoch} sent sequence {header.base_sequence}, "
        f"expected {expected} (the partition has seen epoch {producer.producer_epoch}, "
        f"last sequence {producer.last_sequence})",
    )


def _epoch_refusal(producer_id: int, producer_epoch: int, producer: ProducerState) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"producer {producer_id} has epoch {producer_epoch}, the partition has seen {producer.producer_epoch}: "
        "the transaction has ended or another instance has taken over; abort",
    )


def _not_transactional_refusal(header: BatchHeader, producer: ProducerState) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_TXN_STATE,
        f"producer {header.producer_id} epoch {header.producer_epoch} sent a batch outside a transaction while its "
        f"transaction that began at offset {producer.current_txn_first_offset} is open",
    )


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
    return Append(state.end_offset)


def _is_epoch_too_low(producer: ProducerState, marker_epoch: int, transaction_version: int) -> bool:
    if transaction_version < 2 or marker_epoch != producer.producer_epoch:
        return marker_epoch < producer.producer_epoch
    return producer.has_open_transaction and marker_epoch != PRODUCER_EPOCH_MAX
