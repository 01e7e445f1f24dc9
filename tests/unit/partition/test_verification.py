import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import NOTHING_TO_ASK, Append, AskCoordinator
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header

PRODUCER_ID = 7


@pytest.fixture
def partition() -> PartitionDriver:
    return PartitionDriver()


def asked(partition: PartitionDriver, epoch: int, sequence: int, *, transaction_version: int = 2) -> AskCoordinator:
    decision = partition.verify(PRODUCER_ID, epoch, sequence, transaction_version=transaction_version)
    assert isinstance(decision, AskCoordinator)
    return decision


def test_the_first_batch_of_a_transaction_asks_the_coordinator(partition: PartitionDriver) -> None:
    guard = asked(partition, 0, 0).guard
    assert (guard.producer_epoch, guard.lowest_sequence, guard.created_ms) == (0, 0, NOW_MS)


def test_an_open_transaction_of_the_same_epoch_has_nothing_to_ask(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    assert partition.verify(PRODUCER_ID, 0, 1) is NOTHING_TO_ASK


def test_an_open_transaction_of_a_lower_epoch_does_not_count(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    assert asked(partition, 1, 0).guard.producer_epoch == 1


def test_a_stale_epoch_is_refused_before_anybody_is_asked(partition: PartitionDriver) -> None:
    partition.send(PRODUCER_ID, 3, 0)
    refused = partition.verify(PRODUCER_ID, 2, 0)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.state.guards == {}


def test_a_second_batch_joins_the_guard_of_the_first(partition: PartitionDriver) -> None:
    first = asked(partition, 0, 4).guard
    higher = asked(partition, 0, 6).guard
    lower = asked(partition, 0, 2).guard
    assert first.guard_id == higher.guard_id == lower.guard_id
    assert (higher.lowest_sequence, lower.lowest_sequence) == (4, 2)


def test_a_higher_epoch_starts_the_guard_over_and_a_lower_one_does_not_touch_it(partition: PartitionDriver) -> None:
    first = asked(partition, 0, 4, transaction_version=1).guard
    bumped = asked(partition, 1, 9).guard
    assert bumped.guard_id == first.guard_id
    assert (bumped.producer_epoch, bumped.lowest_sequence, bumped.supports_epoch_bump) == (1, 9, True)
    assert asked(partition, 0, 0).guard == bumped


def test_the_first_appended_batch_of_a_transaction_uses_the_guard_up(partition: PartitionDriver) -> None:
    partition.send_transactional(PRODUCER_ID, 0, 0)
    assert partition.state.guards == {}


def test_a_guard_that_was_cleared_is_never_given_out_again(partition: PartitionDriver) -> None:
    first = asked(partition, 0, 0).guard
    partition.end(PRODUCER_ID, 1, is_commit=False)
    second = asked(partition, 1, 0).guard
    assert second.guard_id != first.guard_id
    header = data_header(producer_id=PRODUCER_ID, producer_epoch=1, base_sequence=0, is_transactional=True)
    assert isinstance(partition.produce(header, guard_id=first.guard_id), Refusal)
    assert partition.produce(header, guard_id=second.guard_id) == Append(1, 0)


def test_guards_of_two_producers_are_different(partition: PartitionDriver) -> None:
    first = partition.verify(1, 0, 0)
    second = partition.verify(2, 0, 0)
    assert isinstance(first, AskCoordinator)
    assert isinstance(second, AskCoordinator)
    assert first.guard.guard_id != second.guard.guard_id


def test_no_batch_of_an_unknown_producer_overtakes_a_lower_one_that_waits(partition: PartitionDriver) -> None:
    guard_id = asked(partition, 0, 10, transaction_version=1).guard.guard_id
    batch = data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=11, is_transactional=True)
    refused = partition.produce(batch, guard_id=guard_id)
    assert isinstance(refused, Refusal)
    assert refused.error_code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.produce(batch._replace(base_sequence=10), guard_id=guard_id) == Append(0, 0)
    assert partition.produce(batch) == Append(1, 0)


def test_a_late_copy_of_an_old_batch_does_not_block_the_next_transaction(partition: PartitionDriver) -> None:
    """It lowers the guard's sequence below what is in the log already; the log knows better which batch comes next."""
    partition.send_transactional(PRODUCER_ID, 0, 0, record_count=3, transaction_version=1)
    partition.end(PRODUCER_ID, 0, is_commit=True, transaction_version=1)
    asked(partition, 0, 0, transaction_version=1)
    assert partition.send_transactional(PRODUCER_ID, 0, 3, transaction_version=1) == 4


def test_guards_do_not_outlive_the_process(partition: PartitionDriver) -> None:
    guard_id = asked(partition, 0, 0).guard.guard_id
    again = partition.restarted()
    header = data_header(producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=0, is_transactional=True)
    assert isinstance(again.produce(header, guard_id=guard_id), Refusal)
