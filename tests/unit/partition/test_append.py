"""What a producer is answered: one test for each row of the table of results, and the order of the checks."""

import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import NOTHING_TO_ASK, Append, AppendOrigin, AskCoordinator, Duplicate
from fencepost.partition.apply import apply_expired_producers, decide_expired_producers
from fencepost.partition.partition import PartitionState
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header

SEQUENCE_MAX = 2**31 - 1
PRODUCER_ID = 7


@pytest.fixture
def partition() -> PartitionDriver:
    return PartitionDriver()


def test_a_batch_without_a_producer_id_is_always_appended(partition: PartitionDriver) -> None:
    assert partition.produce(data_header(record_count=3)) == Append(base_offset=0, leader_epoch=0)
    assert partition.produce(data_header()) == Append(base_offset=3, leader_epoch=0)
    assert partition.state.producers == {}


def test_each_of_the_last_five_batches_resent_gets_its_old_offsets(partition: PartitionDriver) -> None:
    for sequence in range(0, 10, 2):
        partition.send(PRODUCER_ID, 0, sequence, record_count=2)
    for sequence in range(0, 10, 2):
        assert partition.send(PRODUCER_ID, 0, sequence, record_count=2) == Duplicate(sequence, sequence + 1, NOW_MS)
    assert partition.state.end_offset == 10


def test_a_duplicate_that_fell_out_of_the_cache_looks_like_a_gap(partition: PartitionDriver) -> None:
    for sequence in range(6):
        partition.send(PRODUCER_ID, 0, sequence)
    assert partition.send(PRODUCER_ID, 0, 0) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(PRODUCER_ID, 0, 1) == Duplicate(1, 1, NOW_MS)


@pytest.mark.parametrize("base_sequence", [0, 1, 3, 5, SEQUENCE_MAX])
def test_a_gap_or_a_partial_overlap_is_out_of_order(partition: PartitionDriver, base_sequence: int) -> None:
    partition.send(PRODUCER_ID, 0, 0, record_count=4)
    assert partition.send(PRODUCER_ID, 0, base_sequence, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.state.end_offset == 4


def test_an_overlap_with_the_same_first_or_the_same_last_sequence_is_not_a_duplicate(
    partition: PartitionDriver,
) -> None:
    partition.send(PRODUCER_ID, 0, 0, record_count=4)
    assert partition.send(PRODUCER_ID, 0, 0, record_count=3) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(PRODUCER_ID, 0, 1, record_count=3) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_new_epoch_of_a_known_producer_starts_at_sequence_0(partition: PartitionDriver) -> None:
    partition.send(PRODUCER_ID, 0, 0)
    assert partition.send(PRODUCER_ID, 1, 1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(PRODUCER_ID, 1, 0) == 1


def test_a_new_epoch_forgets_the_batches_of_the_old_one(partition: PartitionDriver) -> None:
    partition.send(PRODUCER_ID, 0, 0)
    partition.send(PRODUCER_ID, 1, 0)
    assert partition.send(PRODUCER_ID, 0, 0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.send(PRODUCER_ID, 1, 0) == Duplicate(1, 1, NOW_MS)


def test_a_producer_without_state_may_start_anywhere(partition: PartitionDriver) -> None:
    assert partition.send(PRODUCER_ID, 3, 1_000) == 0
    assert partition.send(PRODUCER_ID, 3, 1_001) == 1


def test_a_producer_without_state_starts_a_classic_transaction_anywhere(partition: PartitionDriver) -> None:
    assert partition.send_transactional(PRODUCER_ID, 0, 41, transaction_version=1) == 0


def test_a_producer_without_state_starts_a_version_2_transaction_at_sequence_0_only(partition: PartitionDriver) -> None:
    refused = partition.send_transactional(PRODUCER_ID, 0, 41, transaction_version=2)
    assert refused is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send_transactional(PRODUCER_ID, 0, 0, transaction_version=2) == 0


def test_after_a_version_2_marker_the_next_transaction_starts_at_sequence_0(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0, record_count=3)
    partition.end(PRODUCER_ID, 1, is_commit=True)
    assert partition.send_transactional(PRODUCER_ID, 1, 3) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send_transactional(PRODUCER_ID, 1, 0) == 4


def test_after_a_classic_marker_sequences_go_on(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0, record_count=3, transaction_version=1)
    partition.end(PRODUCER_ID, 0, is_commit=True, transaction_version=1)
    refused = partition.send_transactional(PRODUCER_ID, 0, 0, transaction_version=1)
    assert refused is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send_transactional(PRODUCER_ID, 0, 3, transaction_version=1) == 4


def test_an_epoch_below_the_stored_one_is_invalid(partition: PartitionDriver) -> None:
    partition.send(PRODUCER_ID, 5, 0)
    assert partition.send(PRODUCER_ID, 4, 1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.send_transactional(PRODUCER_ID, 4, 1) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_transactional_batch_that_nobody_verified_is_refused(partition: PartitionDriver) -> None:
    header = data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=0, is_transactional=True)
    refused = partition.produce(header)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_TXN_STATE
    assert isinstance(partition.produce(header, guard_id=1), Refusal)
    assert partition.state.end_offset == 0


def test_the_open_transaction_of_a_lower_epoch_vouches_for_nobody(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    header = data_header(producer_id=PRODUCER_ID, producer_epoch=1, base_sequence=0, is_transactional=True)
    refused = partition.produce(header)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_TXN_STATE


def test_without_verification_a_transactional_batch_opens_its_transaction(partition: PartitionDriver) -> None:
    header = data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=0, is_transactional=True)
    assert partition.produce(header, is_verification_enabled=False) == Append(0, 0)
    assert partition.state.producers[PRODUCER_ID].current_txn_first_offset == 0


def test_a_stale_epoch_is_told_before_a_missing_guard(partition: PartitionDriver) -> None:
    """KAFKA-19690: the first lets a client abort and go on, the second kills it."""
    partition.send_transactional(PRODUCER_ID, 0, 0)
    partition.end(PRODUCER_ID, 1, is_commit=False)
    late = data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=1, is_transactional=True)
    refused = partition.produce(late)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_plain_batch_during_the_own_open_transaction_is_refused(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    assert partition.send(PRODUCER_ID, 0, 1) is ErrorCode.INVALID_TXN_STATE
    assert partition.send(PRODUCER_ID, 0, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.send(PRODUCER_ID + 1, 0, 0) == 1


@pytest.mark.parametrize(
    "header",
    [
        data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=0, is_control=True),
        data_header(producer_id=PRODUCER_ID, producer_epoch=0, is_control=True, is_transactional=True),
        data_header(is_control=True),
        data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=-1),
    ],
)
def test_a_client_may_send_no_control_batch_and_no_negative_sequence(
    partition: PartitionDriver, header: object
) -> None:
    refused = partition.produce(header)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_RECORD


def test_a_transactional_batch_needs_a_producer_id(partition: PartitionDriver) -> None:
    refused = partition.produce(data_header(is_transactional=True))
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_offsets_of_the_group_coordinator_have_no_sequences_but_need_the_guard_and_the_epoch(
    partition: PartitionDriver,
) -> None:
    offsets = data_header(producer_id=PRODUCER_ID, producer_epoch=2, is_transactional=True)
    assert isinstance(partition.produce(offsets, origin=AppendOrigin.COORDINATOR), Refusal)
    asked = partition.verify(PRODUCER_ID, 2, -1)
    assert isinstance(asked, AskCoordinator)
    guard_id = asked.guard.guard_id
    assert partition.produce(offsets, origin=AppendOrigin.COORDINATOR, guard_id=guard_id) == Append(0, 0)
    assert partition.verify(PRODUCER_ID, 2, -1) is NOTHING_TO_ASK
    # The same bytes again are another commit of offsets, not a duplicate.
    assert partition.produce(offsets, origin=AppendOrigin.COORDINATOR) == Append(1, 0)
    stale = partition.produce(offsets._replace(producer_epoch=1), origin=AppendOrigin.COORDINATOR)
    assert isinstance(stale, Refusal)
    assert stale.error_code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_sequences_wrap_from_the_largest_to_0(partition: PartitionDriver) -> None:
    assert partition.send(PRODUCER_ID, 0, SEQUENCE_MAX) == 0
    assert partition.send(PRODUCER_ID, 0, 0) == 1
    assert partition.send(PRODUCER_ID, 0, SEQUENCE_MAX) == Duplicate(0, 0, NOW_MS)


def test_an_expired_producer_may_start_anywhere(partition: PartitionDriver) -> None:
    partition.send(PRODUCER_ID, 4, 0)
    for now_ms in (NOW_MS, NOW_MS + 100):
        expired = decide_expired_producers(partition.state, now_ms=now_ms, expiration_ms=100)
        apply_expired_producers(partition.state, expired)
    assert partition.send(PRODUCER_ID, 2, 77) == 1


def test_a_refusal_names_producer_epochs_and_sequences(partition: PartitionDriver) -> None:
    partition.send(990, 31, 50)
    refused = partition.produce(data_header(producer_id=990, producer_epoch=31, base_sequence=64))
    assert isinstance(refused, Refusal)
    for part in ("producer 990", "epoch 31", "sequence 64", "expected 51", "last sequence 50"):
        assert part in refused.message
    refused = partition.produce(data_header(producer_id=990, producer_epoch=30, base_sequence=51))
    assert isinstance(refused, Refusal)
    for part in ("producer 990", "epoch 30", "seen 31"):
        assert part in refused.message


def test_the_base_offset_follows_the_end_and_the_epoch_the_leader() -> None:
    partition = PartitionDriver()
    partition.state = PartitionState(end_offset=100)
    partition.state.leader_epochs.begin(3, start_offset=100)
    assert partition.produce(data_header(record_count=5)) == Append(base_offset=100, leader_epoch=3)
    assert partition.state.end_offset == 105
