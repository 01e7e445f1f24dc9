"""The fold: how each stored batch, each sync and each change of the log's start moves the state of a partition.

Nothing here refuses. Live, `decide_*` has judged a batch before it was written; at recovery the journal is
taken at its word, so sequences and epochs are followed, not checked. The same calls in the same order give the
same state, and a state loaded from a checkpoint goes on as if it had seen everything before.

A producer that is silent for long, and has no transaction open, is forgotten. Silence is counted on a monotonic clock,
from the first sweep that finds nothing new: what a producer writes into its records says nothing about when it was
here, and a copy of old records must not cost it the memory that makes a resent batch a duplicate. After a restart the
age of its newest timestamp is taken for its silence so far. Forgetting is not journalled. A restart may remember a
forgotten producer until the next sweep; that is harmless, since an unknown producer may start anywhere and a fold
follows whatever was accepted.
"""

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
    if header.producer_id < 0:
        return
    if header.attributes & CONTROL_FLAG:
        if marker is not None:
            _apply_marker(state, header, marker)
        return
    producer = state.producers.get(header.producer_id)
    if producer is None:
        producer = state.producers[header.producer_id] = ProducerState()
        state.waiting.pop(header.producer_id, None)
    producer.add_batch(header)
    if header.attributes & TRANSACTIONAL_FLAG and producer.current_txn_first_offset == NO_OFFSET:
        producer.current_txn_first_offset = base_offset
        state.transactions.start(first_offset=base_offset, producer_id=header.producer_id)


def _apply_marker(state: PartitionState, header: BatchHeader, marker: ControlMarker) -> None:
    producer_id = header.producer_id
    producer = state.producers.setdefault(producer_id, ProducerState())
    state.waiting.pop(producer_id, None)
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


def apply_synced(state: PartitionState, end_offset: int) -> None:
    """Everything below `end_offset` is on disk: readers may see it, and markers below it count."""
    if end_offset > state.end_offset:
        raise InvariantBroken(f"the synced end {end_offset} is within the log, which ends at {state.end_offset}")
    if end_offset > state.high_watermark:
        state.high_watermark = end_offset
        state.transactions.forget_decided_below(end_offset)


def apply_log_start(state: PartitionState, log_start_offset: int) -> None:
    """Records below `log_start_offset` are gone: by retention, or by DeleteRecords.

    A transaction that began below it stays open. Producers are remembered, so their sequences go on.
    """
    if log_start_offset <= state.log_start_offset:
        return
    state.log_start_offset = log_start_offset
    state.end_offset = max(state.end_offset, log_start_offset)
    apply_synced(state, max(state.high_watermark, log_start_offset))
    state.aborted.forget_below(log_start_offset)


def apply_aborted_data_cleaned(state: PartitionState, marker_offsets: list[int]) -> None:
    """All records of the transactions that these abort markers end were cleaned away; the markers may go next."""
    state.aborted.forget_markers(marker_offsets)


def expire_producers(state: PartitionState, *, now_ms: int, expiration_ms: int) -> list[int]:
    """One sweep: forget the producers that have been silent for `expiration_ms`, and say which; `now_ms` is
    monotonic."""
    horizon_ms = now_ms - expiration_ms
    state.waiting = {key: waiting for key, waiting in state.waiting.items() if waiting.since_ms > horizon_ms}
    expired = []
    for producer_id, producer in state.producers.items():
        if producer.has_open_transaction:
            continue
        if producer.silent_since_ms is None:
            producer.silent_since_ms = now_ms
        elif producer.silent_since_ms <= horizon_ms:
            expired.append(producer_id)
    for producer_id in expired:
        del state.producers[producer_id]
    return expired


def resume_producers(state: PartitionState, *, wall_ms: int, monotonic_ms: int) -> None:
    """After recovery: how long each producer has been silent already, as far as can be known."""
    for producer in state.producers.values():
        producer.silent_since_ms = monotonic_ms - max(0, wall_ms - producer.last_timestamp)
