from fencepost.errors import ErrorCode
from fencepost.transactions.states import TransactionState
from fencepost.types import ProducerIdentity
from tests.unit.transactions.driver import INVOICES, CoordinatorDriver


def test_a_finished_transaction_keeps_the_time_of_its_start() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES, version=2)
    started_ms = driver.now_ms
    driver.pass_time(500)
    driver.end(owner, version=5)
    assert driver.transaction.start_timestamp_ms == started_ms
    assert driver.transaction.last_update_timestamp_ms == started_ms + 500


def test_an_abort_with_nothing_open_starts_and_ends_at_once() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.pass_time(500)
    assert driver.end(owner, is_commit=False, version=5) == ProducerIdentity(
        owner.producer_id, owner.producer_epoch + 1
    )
    assert driver.logged_states[-2:] == [TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT]
    assert driver.transaction.start_timestamp_ms == driver.now_ms
    assert driver.markers == []


def test_a_crash_within_an_abort_with_nothing_open_rolls_forward() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.end(owner, is_commit=False, version=5)
    assert driver.crashed(len(driver.journal) - 1).transaction == driver.transaction


def test_the_retry_across_producer_ids_is_only_for_the_first_epoch_of_the_fresh_one() -> None:
    driver = CoordinatorDriver()
    changes = {"producer_id": 8, "previous_producer_id": 7, "client_transaction_version": 2}
    driver.put(TransactionState.COMPLETE_COMMIT, producer_epoch=3, **changes)
    assert driver.end((7, 32766), version=5) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    driver.put(TransactionState.COMPLETE_COMMIT, producer_epoch=0, **changes)
    assert driver.end((7, 32766), version=5) == ProducerIdentity(8, 0)


def test_a_refusal_says_what_state_stood_in_the_way() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    assert driver.end(owner, version=4) is ErrorCode.INVALID_TXN_STATE
    assert driver.refusal.message == "transactional id 'shop-0' is Empty: nothing to commit"
