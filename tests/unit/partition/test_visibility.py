import pytest

from fencepost.errors import ErrorCode, InvariantBroken, Refusal
from fencepost.partition.apply import apply_batch, apply_synced
from fencepost.partition.visibility import (
    IsolationLevel,
    aborted_transactions,
    decide_delete_records,
    decide_fetch,
    fetch_limit,
    last_stable_offset,
)
from fencepost.types import OffsetRange
from tests.unit.partition.driver import PartitionDriver, data_header

COMMITTED = IsolationLevel.READ_COMMITTED
UNCOMMITTED = IsolationLevel.READ_UNCOMMITTED


@pytest.fixture
def partition() -> PartitionDriver:
    return PartitionDriver()


def test_nothing_that_is_not_synced_is_seen(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=10))
    assert fetch_limit(partition.state, UNCOMMITTED) == fetch_limit(partition.state, COMMITTED) == 0
    apply_synced(partition.state, 4)
    assert fetch_limit(partition.state, UNCOMMITTED) == fetch_limit(partition.state, COMMITTED) == 4


def test_the_high_watermark_never_goes_back(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=10))
    apply_synced(partition.state, 8)
    apply_synced(partition.state, 5)
    assert partition.state.high_watermark == 8


def test_a_sync_past_the_end_is_a_bug(partition: PartitionDriver) -> None:
    with pytest.raises(InvariantBroken):
        apply_synced(partition.state, 1)


def test_an_open_transaction_holds_read_committed_at_its_first_offset(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=5))
    partition.send_transactional(1, 0, 0, record_count=2)
    partition.produce(data_header(record_count=3))
    partition.sync()
    assert fetch_limit(partition.state, COMMITTED) == 5
    assert fetch_limit(partition.state, UNCOMMITTED) == 10


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_marker_counts_once_it_is_synced(partition: PartitionDriver, *, is_commit: bool) -> None:
    partition.send_transactional(1, 0, 0, record_count=2)
    partition.sync()
    marker_offset = partition.end(1, 1, is_commit=is_commit)
    partition.produce(data_header())
    assert last_stable_offset(partition.state) == 0
    assert isinstance(marker_offset, int)
    apply_synced(partition.state, marker_offset)
    assert last_stable_offset(partition.state) == 0
    apply_synced(partition.state, marker_offset + 1)
    assert last_stable_offset(partition.state) == marker_offset + 1


def test_the_last_stable_offset_is_never_above_the_high_watermark(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=5))
    partition.send_transactional(1, 0, 0)
    apply_synced(partition.state, 3)
    assert last_stable_offset(partition.state) == 3


def test_a_decided_transaction_that_began_first_still_holds_back_until_its_marker_is_synced(
    partition: PartitionDriver,
) -> None:
    partition.send_transactional(1, 0, 0)
    partition.send_transactional(2, 0, 0)
    partition.sync()
    partition.end(2, 1, is_commit=True)
    partition.end(1, 1, is_commit=True)
    assert last_stable_offset(partition.state) == 0
    apply_synced(partition.state, 3)
    assert last_stable_offset(partition.state) == 0
    apply_synced(partition.state, 4)
    assert last_stable_offset(partition.state) == 4


def test_offsets_outside_the_log_are_out_of_range(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=10))
    partition.sync()
    partition.delete_records(4)
    for offset in (-1, 3, 11):
        refused = decide_fetch(partition.state, fetch_offset=offset, isolation_level=COMMITTED)
        assert isinstance(refused, Refusal)
        assert refused.error_code is ErrorCode.OFFSET_OUT_OF_RANGE
    for offset in (4, 9, 10):
        allowed = decide_fetch(partition.state, fetch_offset=offset, isolation_level=COMMITTED)
        assert allowed == OffsetRange(offset, 10)


def test_a_reader_between_its_limit_and_the_end_gets_nothing_and_no_error(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=2))
    partition.send_transactional(1, 0, 0, record_count=3)
    apply_synced(partition.state, 4)
    for offset in (2, 3, 4, 5):
        assert decide_fetch(partition.state, fetch_offset=offset, isolation_level=COMMITTED) == OffsetRange(
            offset, offset
        )
    assert decide_fetch(partition.state, fetch_offset=3, isolation_level=UNCOMMITTED) == OffsetRange(3, 4)
    assert decide_fetch(partition.state, fetch_offset=5, isolation_level=UNCOMMITTED) == OffsetRange(5, 5)


def test_records_can_be_deleted_up_to_the_high_watermark(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=10))
    apply_synced(partition.state, 6)
    assert decide_delete_records(partition.state, -1) == 6
    assert decide_delete_records(partition.state, 6) == 6
    for offset in (-2, 7):
        refused = decide_delete_records(partition.state, offset)
        assert isinstance(refused, Refusal)
        assert refused.error_code is ErrorCode.OFFSET_OUT_OF_RANGE
    partition.delete_records(5)
    assert decide_delete_records(partition.state, 2) == 5


def test_the_log_start_never_goes_back_and_pushes_the_other_offsets_ahead(partition: PartitionDriver) -> None:
    partition.delete_records(8)
    state = partition.state
    assert (state.log_start_offset, state.high_watermark, state.end_offset) == (8, 8, 8)
    partition.delete_records(3)
    assert state.log_start_offset == 8


def test_aborted_transactions_go_with_their_range_and_leave_with_the_log_start(partition: PartitionDriver) -> None:
    partition.send_transactional(1, 0, 0, record_count=2)
    partition.end(1, 1, is_commit=False)
    partition.send_transactional(1, 1, 0, record_count=2)
    partition.end(1, 2, is_commit=False)
    assert aborted_transactions(partition.state, OffsetRange(0, 2)) == [(1, 0)]
    assert aborted_transactions(partition.state, OffsetRange(2, 4)) == [(1, 0), (1, 3)]
    assert aborted_transactions(partition.state, OffsetRange(3, 4)) == [(1, 3)]
    assert aborted_transactions(partition.state, OffsetRange(6, 9)) == []
    partition.delete_records(3)
    assert aborted_transactions(partition.state, OffsetRange(0, 9)) == [(1, 3)]


def test_a_batch_below_the_end_is_a_bug_and_a_hole_is_not(partition: PartitionDriver) -> None:
    apply_batch(partition.state, data_header(base_offset=40, record_count=2))
    assert partition.state.end_offset == 42
    with pytest.raises(InvariantBroken):
        apply_batch(partition.state, data_header(base_offset=41))
