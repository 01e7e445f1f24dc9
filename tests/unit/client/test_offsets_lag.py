"""Counting records in an answer to Fetch by the headers of its batches."""

from fencepost.client.offsets import _count_answer
from fencepost.records.builder import build_batch
from fencepost.records.control import build_marker
from fencepost.records.header import stamp_in_place
from fencepost.records.record import Record
from fencepost.types import OffsetRange
from fencepost.wire.messages.fetch import AbortedTransaction, PartitionData


def batch(offset: int, count: int, *, producer_id: int = -1, last_offset_delta: int | None = None) -> bytes:
    is_transactional = producer_id >= 0
    return build_batch(
        [Record(offset=offset + index, value=b"v") for index in range(count)],
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=0 if is_transactional else -1,
        base_sequence=0 if is_transactional else -1,
        is_transactional=is_transactional,
        last_offset_delta=last_offset_delta,
    )


def marker(offset: int, producer_id: int, *, is_commit: bool) -> bytes:
    built = bytearray(
        build_marker(
            producer_id=producer_id, producer_epoch=0, is_commit=is_commit, coordinator_epoch=0, timestamp_ms=0
        )
    )
    stamp_in_place(built, base_offset=offset, leader_epoch=0)
    return bytes(built)


LOG = b"".join(
    [
        batch(0, 10),
        batch(10, 5, producer_id=7),
        marker(15, 7, is_commit=False),
        batch(16, 4, producer_id=7),
        marker(20, 7, is_commit=True),
        batch(21, 2, last_offset_delta=9),
    ]
)
ABORTED = [AbortedTransaction(7, 10)]


def counted(start: int, end: int, *, aborted: list[AbortedTransaction] | None = None) -> tuple[int, int]:
    answer = PartitionData(records=[LOG], aborted_transactions=ABORTED if aborted is None else aborted)
    return _count_answer(answer, OffsetRange(start, end))


def test_markers_aborted_records_and_compacted_ones_do_not_count() -> None:
    assert counted(0, 31) == (10 + 4 + 2, 31)


def test_uncommitted_readers_count_what_was_aborted() -> None:
    assert counted(0, 31, aborted=[]) == (10 + 5 + 4 + 2, 31)


def test_a_range_may_begin_and_end_inside_a_batch() -> None:
    assert counted(3, 8) == (5, 8)
    assert counted(3, 18) == (7 + 2, 18)


def test_an_answer_with_nothing_is_the_end() -> None:
    assert _count_answer(PartitionData(records=None), OffsetRange(5, 9)) == (0, 9)
