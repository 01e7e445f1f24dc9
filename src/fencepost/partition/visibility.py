"""What a reader may see of a partition: up to where, by isolation level, and which transactions to leave out.

read_uncommitted ends at the high watermark. read_committed ends at the last stable offset: the first offset
of the oldest transaction that is open, or whose marker is not synced; one open transaction holds back everything after
its first record, other producers' included. The last stable offset is never above the high watermark.
"""

from enum import IntEnum

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.partition import AbortedTransaction, PartitionState
from fencepost.types import OffsetRange


class IsolationLevel(IntEnum):
    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


def last_stable_offset(state: PartitionState) -> int:
    first_unstable = state.transactions.first_unstable_offset()
    if first_unstable is None:
        return state.high_watermark
    return min(max(first_unstable, state.log_start_offset), state.high_watermark)


def fetch_limit(state: PartitionState, isolation_level: IsolationLevel) -> int:
    """The end of what a fetch returns, and what ListOffsets calls the latest offset."""
    if isolation_level is IsolationLevel.READ_COMMITTED:
        return last_stable_offset(state)
    return state.high_watermark


def decide_fetch(state: PartitionState, *, fetch_offset: int, isolation_level: IsolationLevel) -> OffsetRange | Refusal:
    """The offsets that a fetch may return; none for a reader at the end, or ahead of what it may see.

    The limit stands between batches or, where records were deleted, inside one that no reader may see yet: serve only
    batches whose last offset is in the range, and none if it is empty, even if one holds `fetch_offset`.
    """
    if not state.log_start_offset <= fetch_offset <= state.end_offset:
        return Refusal(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {fetch_offset} is outside the log, which holds {state.log_start_offset} up to {state.end_offset}",
        )
    return OffsetRange(fetch_offset, max(fetch_offset, fetch_limit(state, isolation_level)))


def aborted_transactions(state: PartitionState, offsets: OffsetRange) -> list[AbortedTransaction]:
    """The aborted transactions that a read_committed reader of `offsets` must know.

    The range must cover what is returned to the reader: from the offset that it asked for to the end of the last batch.
    """
    return state.aborted.select(start_offset=offsets.start_offset, end_offset=offsets.end_offset)


def decide_delete_records(state: PartitionState, offset: int) -> int | Refusal:
    """The log start that DeleteRecords up to `offset` leads to; -1 means all that can be seen."""
    if offset == -1:
        return state.high_watermark
    if not 0 <= offset <= state.high_watermark:
        return Refusal(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {offset} is outside what can be deleted, which ends at {state.high_watermark}",
        )
    return max(offset, state.log_start_offset)
