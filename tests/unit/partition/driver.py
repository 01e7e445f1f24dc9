"""A partition under test: decides, writes to a list that stands for the journal, applies.

Every decision is checked to have changed nothing. `restarted` folds the written batches again, as recovery does.
"""

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import (
    Append,
    AppendOrigin,
    Duplicate,
    decide_append,
    decide_marker,
    is_transaction_open,
)
from fencepost.partition.apply import apply_batch, apply_log_start, apply_synced
from fencepost.partition.checkpoint import dump_state, load_state
from fencepost.partition.partition import PartitionState
from fencepost.records.control import ControlMarker, build_marker, read_marker
from fencepost.records.header import CONTROL_FLAG, MAGIC, TRANSACTIONAL_FLAG, BatchHeader, read_header
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE

NOW_MS = 1_700_000_000_000


def data_header(
    *,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    record_count: int = 1,
    is_transactional: bool = False,
    is_control: bool = False,
    base_offset: int = 0,
    leader_epoch: int = 0,
    timestamp_ms: int = NOW_MS,
) -> BatchHeader:
    return BatchHeader(
        base_offset=base_offset,
        batch_length=49,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=(TRANSACTIONAL_FLAG if is_transactional else 0) | (CONTROL_FLAG if is_control else 0),
        last_offset_delta=record_count - 1,
        base_timestamp=timestamp_ms,
        max_timestamp=timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=record_count,
    )


class PartitionDriver:
    def __init__(self) -> None:
        self.state = PartitionState()
        self.journal: list[tuple[BatchHeader, ControlMarker | None]] = []

    def produce(
        self,
        header: BatchHeader,
        *,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        has_epoch_per_transaction: bool = False,
    ) -> Append | Duplicate | Refusal:
        before = dump_state(self.state)
        decision = decide_append(self.state, header, origin=origin, has_epoch_per_transaction=has_epoch_per_transaction)
        assert dump_state(self.state) == before
        if isinstance(decision, Append):
            stamped = header._replace(base_offset=decision.base_offset)
            self.journal.append((stamped, None))
            apply_batch(self.state, stamped)
        return decision

    def send(self, producer_id: int, producer_epoch: int, base_sequence: int, record_count: int = 1) -> object:
        """An idempotent batch outside transactions: the base offset, `Duplicate`, or the error code."""
        return _short(
            self.produce(
                data_header(
                    producer_id=producer_id,
                    producer_epoch=producer_epoch,
                    base_sequence=base_sequence,
                    record_count=record_count,
                )
            )
        )

    def send_transactional(
        self,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        record_count: int = 1,
        *,
        transaction_version: int = 2,
    ) -> object:
        """A transactional batch for which the coordinator, if it must be asked, says yes."""
        is_open = is_transaction_open(self.state, producer_id=producer_id, producer_epoch=producer_epoch)
        if isinstance(is_open, Refusal):
            return is_open.error_code
        header = data_header(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            record_count=record_count,
            is_transactional=True,
        )
        return _short(self.produce(header, has_epoch_per_transaction=transaction_version >= 2))

    def end(
        self,
        producer_id: int,
        marker_epoch: int,
        *,
        is_commit: bool,
        transaction_version: int = 2,
        coordinator_epoch: int = 0,
        timestamp_ms: int = NOW_MS,
    ) -> object:
        """A marker: its offset, or the error code."""
        before = dump_state(self.state)
        decision = decide_marker(
            self.state,
            producer_id=producer_id,
            producer_epoch=marker_epoch,
            coordinator_epoch=coordinator_epoch,
            transaction_version=transaction_version,
        )
        assert dump_state(self.state) == before
        if isinstance(decision, Append):
            batch = build_marker(
                producer_id=producer_id,
                producer_epoch=marker_epoch,
                is_commit=is_commit,
                coordinator_epoch=coordinator_epoch,
                timestamp_ms=timestamp_ms,
            )
            header = read_header(batch)._replace(base_offset=decision.base_offset, leader_epoch=0)
            marker = read_marker(batch)
            self.journal.append((header, marker))
            apply_batch(self.state, header, marker)
        return _short(decision)

    def sync(self) -> None:
        apply_synced(self.state, self.state.end_offset)

    def delete_records(self, log_start_offset: int) -> None:
        apply_log_start(self.state, log_start_offset)

    def restarted(self, *, checkpoint_at: int = 0) -> "PartitionDriver":
        """The broker died and came back: a checkpoint after `checkpoint_at` batches, the rest replayed."""
        state = PartitionState()
        for position, (header, marker) in enumerate(self.journal):
            if position == checkpoint_at:
                state = load_state(dump_state(state))
            apply_batch(state, header, marker)
        if checkpoint_at >= len(self.journal):
            state = load_state(dump_state(state))
        apply_synced(state, state.end_offset)
        again = PartitionDriver()
        again.state = state
        again.journal = list(self.journal)
        return again


def _short(decision: Append | Duplicate | Refusal) -> int | Duplicate | ErrorCode:
    if isinstance(decision, Append):
        return decision.base_offset
    return decision.error_code if isinstance(decision, Refusal) else decision
