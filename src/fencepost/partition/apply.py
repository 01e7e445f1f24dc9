"""The fold: how each stored batch, each sync and each change of the log's start moves the state of a partition.

Nothing here refuses. Live, `decide_*` has judged a batch before it was written; at recovery the journal is
taken at its word, so sequences and epochs are followed, not checked. The same calls in the same order give the
same state, and a state loaded from a checkpoint goes on as if it had seen everything before.
"""

from typing import NamedTuple

from fencepost.errors import InvariantBroken
from fencepost.partition.partition import PartitionState
from fencepost.partition.producer_state import ProducerState
from fencepost.records.control import ControlMarker
from fencepost.records.header import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader
from fencepost.types import NO_OFFSET


def apply_batch(state: PartitionState, header: BatchHeader, marker: ControlMarker | None = None) -> None:
    """Fold a batch that was written: data, transactional offsets, or a control batch with its `marker`.

    A control batch without a marker ends no transaction: cleaning emptied it, or it is of another kind.
    Offsets may leave holes, which cleaning makes, but never go back.
    """
    base_offset = header.base_offset
    if base_offset < state.end_offset:
        raise InvariantBroken(f"a batch at offset {base_offset} follows the log's end, {state.end_offset}")
    state.end_offset = base_offset + header.last_offset_delta + 1
    if header.leader_epoch > state.leader_epochs.latest:
        state.leader_epochs.begin(header.leader_epoch, start_offset=base_offset)
    if header.producer_id < 0:
        return
    if header.attributes & CONTROL_FLAG:
        if marker is not None:
            _apply_marker(state, header, marker)
        return
    producer = state.producers.get(header.producer_id)
    if producer is None:
        producer = state.producers[header.producer_id] = ProducerState()
    producer.add_batch(header)
    if header.attributes & TRANSACTIONAL_FLAG:
        state.guards.pop(header.producer_id, None)
        if producer.current_txn_first_offset == NO_OFFSET:
            producer.current_txn_first_offset = base_offset
            state.transactions.start(first_offset=base_offset, producer_id=header.producer_id)


def _apply_marker(state: PartitionState, header: BatchHeader, marker: ControlMarker) -> None:
    producer_id = header.producer_id
    producer = state.producers.setdefault(producer_id, ProducerState())
    if producer.has_open_transaction:
        first_offset = producer.current_txn_first_offset
        state.transactions.complete(first_offset=first_offset, marker_offset=header.base_offset)
        if not marker.is_commit:
            first_ongoing = state.transactions.first_ongoing_offset()
            state.aborted.append(
                producer_id=producer_id,
                first_offset=first_offset,
                marker_offset=header.base_offset,
                last_stable_offset=header.base_offset + 1 if first_ongoing is None else first_ongoing,
            )
    producer.end_transaction(
        producer_epoch=header.producer_epoch,
        coordinator_epoch=marker.coordinator_epoch,
        timestamp=marker.timestamp_ms,
    )
    guard = state.guards.get(producer_id)
    if guard is not None and not guard.outlives_marker(header.producer_epoch):
        del state.guards[producer_id]


def apply_synced(state: PartitionState, end_offset: int) -> None:
    """Everything below `end_offset` is on disk: readers may see it, and markers below it count."""
    if end_offset > state.end_offset:
        raise InvariantBroken(f"the synced end {end_offset} is within the log, which ends at {state.end_offset}")
    if end_offset > state.high_watermark:
        state.high_watermark = end_offset
        state.transactions.forget_decided_below(end_offset)


def apply_log_start(state: PartitionState, log_start_offset: int) -> None:
    """Records below `log_start_offset` are gone: by retention, or because somebody deleted them.

    A transaction that began below it stays open. Producers are remembered, so their sequences go on.
    """
    if log_start_offset <= state.log_start_offset:
        return
    state.log_start_offset = log_start_offset
    state.end_offset = max(state.end_offset, log_start_offset)
    apply_synced(state, max(state.high_watermark, log_start_offset))
    state.aborted.forget_below(log_start_offset)
    state.leader_epochs.forget_below(log_start_offset)


def apply_aborted_data_cleaned(state: PartitionState, marker_offsets: list[int]) -> None:
    """All records of the transactions that these abort markers end were cleaned away; the markers may go next."""
    state.aborted.forget_markers(marker_offsets)


# Which producers a partition may forget: silent for long, and with no transaction open.
#
# Silence is counted on a monotonic clock, from the first sweep that finds nothing new: what a producer writes into
# its records says nothing about when it was here, and a copy of old records must not cost it the memory that makes a
# resent batch a duplicate. After a restart the age of its newest timestamp is taken for its silence so far.
# Forgetting is not journalled. A restart may remember a forgotten producer until the next sweep; that is harmless,
# since an unknown producer may start anywhere and a fold follows whatever was accepted.


class ExpiredProducers(NamedTuple):
    producer_ids: list[int]
    guard_producer_ids: list[int]
    """Those whose verification was asked for long ago and never followed by a batch or a marker."""
    newly_silent: dict[int, int]
    """Producer ids, and since when."""


def decide_expired_producers(state: PartitionState, *, now_ms: int, expiration_ms: int) -> ExpiredProducers:
    """`now_ms` is monotonic."""
    horizon_ms = now_ms - expiration_ms
    expired, newly_silent = [], {}
    for producer_id, producer in state.producers.items():
        if producer.has_open_transaction:
            continue
        if producer.silent_since_ms is None:
            newly_silent[producer_id] = now_ms
        elif producer.silent_since_ms <= horizon_ms:
            expired.append(producer_id)
    guards = [producer_id for producer_id, guard in state.guards.items() if guard.created_ms <= horizon_ms]
    return ExpiredProducers(expired, guards, newly_silent)


def apply_expired_producers(state: PartitionState, expired: ExpiredProducers) -> None:
    for producer_id in expired.producer_ids:
        state.producers.pop(producer_id, None)
    for producer_id in expired.guard_producer_ids:
        state.guards.pop(producer_id, None)
    for producer_id, since_ms in expired.newly_silent.items():
        state.producers[producer_id].silent_since_ms = since_ms


def resume_producers(state: PartitionState, *, wall_ms: int, monotonic_ms: int) -> None:
    """After recovery: how long each producer has been silent already, as far as anybody can tell."""
    for producer in state.producers.values():
        producer.silent_since_ms = monotonic_ms - max(0, wall_ms - producer.last_timestamp)
