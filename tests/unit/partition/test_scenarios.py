"""The faults that a partition must survive, numbered as in the table of fault scenarios that the project tests against.

V1 is the classic flow, V2 the one with an epoch for every transaction (KIP-890).
"""

import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import Append, Duplicate, is_transaction_open
from fencepost.partition.apply import apply_synced, expire_producers
from fencepost.partition.visibility import IsolationLevel, fetch_limit, last_stable_offset
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.records.validation import validate_client_batch, validate_record_set
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header
from tests.unit.partition.read_committed import consume

SEQUENCE_MAX = 2**31 - 1
P = 7


@pytest.fixture
def partition() -> PartitionDriver:
    return PartitionDriver()


@pytest.mark.parametrize("transaction_version", [1, 2])
def test_01_a_resent_batch_gets_the_same_offset_and_no_second_copy(
    partition: PartitionDriver, transaction_version: int
) -> None:
    partition.produce(data_header(record_count=10))
    assert partition.send_transactional(P, 0, 0, record_count=3, transaction_version=transaction_version) == 10
    resent = partition.send_transactional(P, 0, 0, record_count=3, transaction_version=transaction_version)
    assert resent == Duplicate(10, 12, NOW_MS)
    assert partition.state.end_offset == 13


def test_02_five_batches_in_flight_are_all_recognised_and_a_sixth_is_not(partition: PartitionDriver) -> None:
    for sequence in range(6):
        partition.send(P, 0, sequence)
    for sequence in range(1, 6):
        assert partition.send(P, 0, sequence) == Duplicate(sequence, sequence, NOW_MS)
    assert partition.send(P, 0, 0) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_03_all_five_are_recognised_after_a_clean_restart(partition: PartitionDriver) -> None:
    for sequence in range(5):
        partition.send(P, 0, sequence)
    again = partition.restarted(checkpoint_at=len(partition.journal))
    assert [again.send(P, 0, sequence) for sequence in range(5)] == [Duplicate(n, n, NOW_MS) for n in range(5)]
    assert again.send(P, 0, 5) == 5


@pytest.mark.parametrize("checkpoint_at", range(9))
def test_04_all_five_are_recognised_after_a_kill_wherever_the_checkpoint_is(
    partition: PartitionDriver, checkpoint_at: int
) -> None:
    for sequence in range(8):
        partition.send(P, 0, sequence)
    again = partition.restarted(checkpoint_at=checkpoint_at)
    assert [again.send(P, 0, n) for n in range(3, 8)] == [Duplicate(n, n, NOW_MS) for n in range(3, 8)]
    assert again.send(P, 0, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_06_a_batch_across_the_wrap_is_accepted_and_recognised(partition: PartitionDriver) -> None:
    assert partition.send(P, 0, SEQUENCE_MAX - 1, record_count=4) == 0
    assert partition.send(P, 0, 2) == 4
    assert partition.send(P, 0, SEQUENCE_MAX - 1, record_count=4) == Duplicate(0, 3, NOW_MS)
    again = partition.restarted(checkpoint_at=2)
    assert again.send(P, 0, SEQUENCE_MAX - 1, record_count=4) == Duplicate(0, 3, NOW_MS)
    assert again.send(P, 0, 3) == 5


def test_07_after_expiry_any_sequence_goes_unless_the_transaction_is_v2(partition: PartitionDriver) -> None:
    def forget() -> None:
        for now_ms in (NOW_MS, NOW_MS + 10**9):
            expire_producers(partition.state, now_ms=now_ms, expiration_ms=86_400_000)
        assert partition.state.producers == {}

    partition.send(P, 0, 0)
    forget()
    assert partition.send(P, 0, 12) == 1
    forget()
    assert partition.send_transactional(P, 0, 40, transaction_version=1) == 2
    partition.end(P, 0, is_commit=True, transaction_version=1)
    forget()
    refused = partition.send_transactional(P, 0, 41, transaction_version=2)
    assert refused is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_08_a_plain_batch_in_an_open_transaction_is_refused_and_nothing_is_written(partition: PartitionDriver) -> None:
    partition.send_transactional(P, 0, 0)
    assert partition.send(P, 0, 1) is ErrorCode.INVALID_TXN_STATE
    assert partition.state.end_offset == 1
    assert partition.send_transactional(P, 0, 1) == 1


@pytest.mark.parametrize(
    "batch",
    [
        build_batch([Record(value=b"x")], producer_id=P, producer_epoch=0, is_control=True, is_transactional=True),
        build_batch([Record(value=b"x")], producer_id=P, producer_epoch=0, base_sequence=-1),
        build_batch([Record(value=b"x")], producer_id=P, producer_epoch=0, base_sequence=0, base_offset=5),
    ],
    ids=["control batch", "base sequence -1", "base offset 5"],
)
def test_09_what_no_client_may_send_is_an_invalid_record(partition: PartitionDriver, batch: bytes) -> None:
    judged = validate_client_batch(batch, max_message_bytes=1 << 20, segment_bytes=1 << 30)
    assert isinstance(judged, Refusal)
    assert judged.error_code is ErrorCode.INVALID_RECORD


def test_09_two_batches_for_one_partition_are_an_invalid_record() -> None:
    batch = build_batch([Record(value=b"x")], producer_id=P, producer_epoch=0, base_sequence=0)
    assert validate_record_set(batch, produce_version=9) is None
    refused = validate_record_set(batch + batch, produce_version=9)
    assert refused is not None
    assert refused.error_code is ErrorCode.INVALID_RECORD


def test_21_after_a_timeout_the_old_epoch_writes_nothing_and_holds_nothing_back(partition: PartitionDriver) -> None:
    for transaction_version in (1, 2):
        epoch = partition.state.producers[P].producer_epoch if P in partition.state.producers else 0
        partition.send_transactional(P, epoch, 0, transaction_version=transaction_version)
        partition.end(P, epoch + 1, is_commit=False, transaction_version=transaction_version)
        partition.sync()
        end_offset = partition.state.end_offset
        late = partition.send_transactional(P, epoch, 1, transaction_version=transaction_version)
        assert late is ErrorCode.INVALID_PRODUCER_EPOCH
        assert partition.state.end_offset == last_stable_offset(partition.state) == end_offset


def test_25_a_late_batch_after_its_marker_opens_no_transaction(partition: PartitionDriver) -> None:
    # V1: the coordinator is asked and says no.
    partition.send_transactional(P, 0, 0, transaction_version=1)
    partition.end(P, 0, is_commit=True, transaction_version=1)
    partition.sync()
    assert is_transaction_open(partition.state, producer_id=P, producer_epoch=0) is False
    # V2: the epoch says it.
    partition.send_transactional(P, 1, 0)
    partition.end(P, 2, is_commit=True)
    partition.sync()
    assert partition.send_transactional(P, 1, 1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert last_stable_offset(partition.state) == partition.state.end_offset == 4


def test_26_a_late_batch_during_the_next_v2_transaction_is_refused(partition: PartitionDriver) -> None:
    partition.send_transactional(P, 0, 0)
    partition.end(P, 1, is_commit=True)
    partition.send_transactional(P, 1, 0)
    for sequence in (0, 1):
        assert partition.send_transactional(P, 0, sequence) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_26_a_late_batch_during_the_next_v1_transaction_can_join_it_which_v1_cannot_tell(
    partition: PartitionDriver,
) -> None:
    partition.send_transactional(P, 0, 0, transaction_version=1)
    partition.end(P, 0, is_commit=True, transaction_version=1)
    partition.send_transactional(P, 0, 1, transaction_version=1)
    assert partition.send_transactional(P, 0, 0, transaction_version=1) == Duplicate(0, 0, NOW_MS)
    gap = partition.send_transactional(P, 0, 5, transaction_version=1)
    assert gap is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send_transactional(P, 0, 2, transaction_version=1) == 3


def test_27_a_late_marker_leaves_the_next_v2_transaction_open(partition: PartitionDriver) -> None:
    partition.send_transactional(P, 0, 0)
    partition.end(P, 1, is_commit=True)
    partition.send_transactional(P, 1, 0)
    assert partition.end(P, 1, is_commit=True) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.state.producers[P].current_txn_first_offset == 2


def test_27_a_late_marker_ends_the_next_v1_transaction_which_v1_cannot_tell(partition: PartitionDriver) -> None:
    partition.send_transactional(P, 0, 0, transaction_version=1)
    partition.end(P, 0, is_commit=True, transaction_version=1)
    partition.send_transactional(P, 0, 1, transaction_version=1)
    assert partition.end(P, 0, is_commit=True, transaction_version=1) == 3
    assert not partition.state.producers[P].has_open_transaction


def test_33_an_open_transaction_stops_read_committed_and_nobody_else(partition: PartitionDriver) -> None:
    partition.produce(data_header(record_count=100))
    partition.send_transactional(P, 0, 0, record_count=10)
    partition.send_transactional(P + 1, 0, 0, record_count=388)
    partition.end(P + 1, 1, is_commit=True)
    partition.produce(data_header())
    partition.sync()
    assert partition.state.end_offset == 500
    assert last_stable_offset(partition.state) == 100
    assert fetch_limit(partition.state, IsolationLevel.READ_COMMITTED) == 100
    assert fetch_limit(partition.state, IsolationLevel.READ_UNCOMMITTED) == 500
    assert consume(partition, start_offset=0, batches_max=3) == list(range(100))


def test_34_a_producer_that_aborts_twice_among_others_shows_its_committed_records_only(
    partition: PartitionDriver,
) -> None:
    partition.send_transactional(1, 0, 0, 2)  # 0, 1: aborted
    partition.send_transactional(2, 0, 0)  # 2: committed
    partition.end(1, 1, is_commit=False)  # 3
    partition.send_transactional(1, 1, 0)  # 4: committed
    partition.produce(data_header())  # 5: no transaction
    partition.end(1, 2, is_commit=True)  # 6
    partition.send_transactional(1, 2, 0)  # 7: aborted
    partition.end(2, 1, is_commit=True)  # 8
    partition.send_transactional(2, 1, 0)  # 9: aborted
    partition.end(1, 3, is_commit=False)  # 10
    partition.end(2, 2, is_commit=False)  # 11
    partition.sync()
    for start_offset in range(13):
        for batches_max in (1, 2, 3, 99):
            seen = consume(partition, start_offset=start_offset, batches_max=batches_max)
            assert seen == [offset for offset in (2, 4, 5) if offset >= start_offset]


def test_36_records_deleted_past_an_open_transaction_move_the_last_stable_offset_with_them(
    partition: PartitionDriver,
) -> None:
    partition.send_transactional(P, 0, 0, record_count=10)
    partition.produce(data_header(record_count=10))
    partition.sync()
    partition.delete_records(15)
    assert last_stable_offset(partition.state) == 15
    assert partition.state.producers[P].has_open_transaction
    marker_offset = partition.end(P, 1, is_commit=False)
    assert marker_offset == 20
    apply_synced(partition.state, 21)
    assert last_stable_offset(partition.state) == 21
    assert consume(partition, start_offset=15, batches_max=1) == [15, 16, 17, 18, 19]


def test_append_of_a_real_batch_takes_the_stamp(partition: PartitionDriver) -> None:
    batch = build_batch([Record(value=b"a"), Record(value=b"b")], producer_id=P, producer_epoch=0, base_sequence=0)
    header = validate_client_batch(batch, max_message_bytes=1 << 20, segment_bytes=1 << 30)
    assert not isinstance(header, Refusal)
    assert partition.produce(header) == Append(0)
    assert partition.state.end_offset == 2
