"""What a producer is answered: one test for each row of the table of results, and the order of the checks."""

import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import Append, AppendOrigin, Duplicate, is_transaction_open
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header

SEQUENCE_MAX = 2**31 - 1
PRODUCER_ID = 7


@pytest.fixture
def partition() -> PartitionDriver:
    return PartitionDriver()


def test_a_batch_without_a_producer_id_is_always_appended(partition: PartitionDriver) -> None:
    assert partition.produce(data_header(record_count=3)) == Append(base_offset=0)
    assert partition.produce(data_header()) == Append(base_offset=3)
    assert partition.state.producers == {}


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


def test_offsets_of_the_group_coordinator_have_no_sequences_but_need_the_epoch(partition: PartitionDriver) -> None:
    offsets = data_header(producer_id=PRODUCER_ID, producer_epoch=2, is_transactional=True)
    # The same bytes again are another commit of offsets, not a duplicate.
    for base_offset in (0, 1):
        assert partition.produce(offsets, origin=AppendOrigin.COORDINATOR) == Append(base_offset)
    stale = partition.produce(offsets._replace(producer_epoch=1), origin=AppendOrigin.COORDINATOR)
    assert isinstance(stale, Refusal)
    assert stale.error_code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_transaction_is_open_for_its_own_epoch_only(partition: PartitionDriver) -> None:
    def is_open(producer_epoch: int) -> bool | Refusal:
        return is_transaction_open(partition.state, producer_id=PRODUCER_ID, producer_epoch=producer_epoch)

    assert is_open(1) is False
    partition.send_transactional(PRODUCER_ID, 1, 0)
    assert is_open(1) is True
    assert is_open(2) is False
    refused = is_open(0)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_PRODUCER_EPOCH
    partition.end(PRODUCER_ID, 2, is_commit=False)
    assert is_open(2) is False
