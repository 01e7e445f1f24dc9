import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import PRODUCER_EPOCH_MAX, decide_marker
from fencepost.partition.apply import apply_batch
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header

PRODUCER_ID = 7


@pytest.fixture
def partition() -> PartitionDriver:
    return PartitionDriver()


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize(("transaction_version", "marker_epoch"), [(0, 3), (1, 3), (1, 4), (2, 4), (2, 9)])
def test_a_marker_ends_the_open_transaction(
    partition: PartitionDriver, *, is_commit: bool, transaction_version: int, marker_epoch: int
) -> None:
    partition.send_transactional(PRODUCER_ID, 3, 0, transaction_version=transaction_version)
    offset = partition.end(
        PRODUCER_ID,
        marker_epoch,
        is_commit=is_commit,
        transaction_version=transaction_version,
        coordinator_epoch=6,
        timestamp_ms=NOW_MS + 5,
    )
    producer = partition.state.producers[PRODUCER_ID]
    assert offset == 1
    assert not producer.has_open_transaction
    assert (producer.producer_epoch, producer.coordinator_epoch) == (marker_epoch, 6)
    assert producer.last_timestamp == NOW_MS + 5
    assert len(partition.state.aborted) == (0 if is_commit else 1)


@pytest.mark.parametrize(("transaction_version", "marker_epoch"), [(0, 2), (1, 2), (2, 2), (2, 3)])
def test_a_marker_of_an_epoch_too_low_is_refused(
    partition: PartitionDriver, transaction_version: int, marker_epoch: int
) -> None:
    partition.send_transactional(PRODUCER_ID, 3, 0, transaction_version=transaction_version)
    refused = partition.end(PRODUCER_ID, marker_epoch, is_commit=True, transaction_version=transaction_version)
    assert refused is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.state.producers[PRODUCER_ID].has_open_transaction


def test_a_version_2_marker_written_twice_is_accepted_and_changes_nothing(partition: PartitionDriver) -> None:
    """KAFKA-19999: after a restart the coordinator writes its markers again."""
    partition.send_transactional(PRODUCER_ID, 3, 0)
    assert partition.end(PRODUCER_ID, 4, is_commit=False) == 1
    assert partition.end(PRODUCER_ID, 4, is_commit=False) == 2
    assert len(partition.state.aborted) == 1
    assert partition.state.producers[PRODUCER_ID].producer_epoch == 4


def test_the_last_epoch_ends_a_transaction_and_may_be_written_twice(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, PRODUCER_EPOCH_MAX - 1, 0)
    assert partition.end(PRODUCER_ID, PRODUCER_EPOCH_MAX, is_commit=True) == 1
    assert partition.end(PRODUCER_ID, PRODUCER_EPOCH_MAX, is_commit=True) == 2
    assert partition.end(PRODUCER_ID, PRODUCER_EPOCH_MAX - 1, is_commit=True) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_the_last_epoch_is_accepted_even_over_an_open_transaction(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, PRODUCER_EPOCH_MAX, 0)
    assert partition.end(PRODUCER_ID, PRODUCER_EPOCH_MAX, is_commit=False) == 1


def test_a_marker_of_a_coordinator_epoch_below_the_last_one_is_fenced(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    partition.end(PRODUCER_ID, 1, is_commit=True, coordinator_epoch=8)
    partition.send_transactional(PRODUCER_ID, 1, 0)
    refused = partition.end(PRODUCER_ID, 2, is_commit=True, coordinator_epoch=7)
    assert refused is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert partition.end(PRODUCER_ID, 2, is_commit=True, coordinator_epoch=8) == 3


def test_a_low_producer_epoch_is_told_before_a_low_coordinator_epoch(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 5, 0)
    partition.end(PRODUCER_ID, 6, is_commit=True, coordinator_epoch=8)
    refused = partition.end(PRODUCER_ID, 5, is_commit=True, coordinator_epoch=7)
    assert refused is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_for_an_unknown_producer_leaves_its_epoch_behind(partition: PartitionDriver) -> None:
    assert partition.end(PRODUCER_ID, 5, is_commit=False, coordinator_epoch=2) == 0
    producer = partition.state.producers[PRODUCER_ID]
    assert (producer.producer_epoch, producer.coordinator_epoch) == (5, 2)
    assert len(partition.state.aborted) == 0
    assert partition.state.transactions.decided == []
    assert partition.send(PRODUCER_ID, 4, 0) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_keeps_the_cached_batches_if_it_keeps_the_epoch(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 3, 0, transaction_version=1)
    partition.end(PRODUCER_ID, 3, is_commit=True, transaction_version=1)
    assert len(partition.state.producers[PRODUCER_ID].batches) == 1
    partition.end(PRODUCER_ID, 4, is_commit=True, transaction_version=1)
    assert partition.state.producers[PRODUCER_ID].batches == []


def test_a_control_batch_that_holds_no_marker_only_takes_its_offsets(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    emptied = data_header(
        producer_id=PRODUCER_ID, producer_epoch=1, is_control=True, is_transactional=True, base_offset=1
    )
    apply_batch(partition.state, emptied, None)
    assert partition.state.end_offset == 2
    assert partition.state.producers[PRODUCER_ID].has_open_transaction


def test_a_refused_marker_names_both_epochs() -> None:
    partition = PartitionDriver()
    partition.send_transactional(PRODUCER_ID, 3, 0)
    refused = decide_marker(
        partition.state, producer_id=PRODUCER_ID, producer_epoch=2, coordinator_epoch=0, transaction_version=2
    )
    assert isinstance(refused, Refusal)
    for part in (f"producer {PRODUCER_ID}", "epoch 2", "seen 3"):
        assert part in refused.message
