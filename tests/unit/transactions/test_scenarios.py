"""The coordinator's side of fault scenarios that a whole broker never meets, numbered as in docs/fault-scenarios.md."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.transactions.states import TransactionState
from fencepost.types import ProducerIdentity
from tests.unit.transactions.driver import INVOICES, OTHER, CoordinatorDriver

S = TransactionState
INVALID = ErrorCode.INVALID_TXN_STATE
NO_MAPPING = ErrorCode.INVALID_PRODUCER_ID_MAPPING
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


def opened() -> tuple[CoordinatorDriver, ProducerIdentity]:
    """An open transaction of the flow with the epoch bump."""
    driver = CoordinatorDriver()
    owner = driver.owner()
    assert driver.add(owner, INVOICES, version=2) is ErrorCode.NONE
    return driver, owner


def at_last_epoch(state: TransactionState, **changes: object) -> tuple[CoordinatorDriver, ProducerIdentity]:
    driver = CoordinatorDriver()
    driver.put(state, producer_epoch=32766, **changes)
    return driver, ProducerIdentity(7, 32766)


def test_15_between_load_and_roll_forward_requests_are_told_to_come_again() -> None:
    driver, owner = opened()
    prepare_at = len(driver.journal) + 1
    driver.end(owner, version=5)
    loading = driver.crashed(prepare_at, is_recovered=False)
    assert loading.transaction.state is S.PREPARE_COMMIT
    assert loading.end(owner, version=5) is BUSY
    assert loading.init() is BUSY
    assert loading.add((owner.producer_id, 1)) is BUSY


def test_30_the_retry_at_the_last_epoch_is_over_once_the_fresh_producer_id_is_used() -> None:
    driver, owner = at_last_epoch(S.ONGOING, client_transaction_version=2)
    driver.end(owner, version=5)
    driver.add((8, 0), INVOICES, version=2)
    assert driver.end(owner, version=5) is NO_MAPPING
    assert "EndTxn(commit) by client 'client-1'" in driver.refusal.message


def test_31_taking_over_at_the_last_epoch_moves_to_a_fresh_producer_id() -> None:
    driver, _ = at_last_epoch(S.ONGOING)
    assert driver.init(caller=OTHER) is BUSY
    assert driver.init(caller=OTHER) == ProducerIdentity(8, 1)


def test_31_an_empty_abort_at_the_last_epoch_moves_to_a_fresh_producer_id() -> None:
    driver, owner = at_last_epoch(S.EMPTY)
    assert driver.end(owner, is_commit=False, version=5) == ProducerIdentity(8, 0)
    assert driver.end(owner, is_commit=False, version=5) == ProducerIdentity(8, 0)


def test_31_an_abort_at_the_epoch_that_is_kept_for_fencing_does_not_overflow_it() -> None:
    driver = CoordinatorDriver()
    driver.put(S.COMPLETE_ABORT, producer_epoch=32767)
    assert driver.end((7, 32767), is_commit=False, version=5) == ProducerIdentity(8, 0)
    assert 32767 in {transaction.producer_epoch for transaction in driver.logged_transactions}


@pytest.mark.parametrize("is_commit", [True, False])
def test_47_a_classic_end_at_an_epoch_where_nothing_was_opened_is_not_confirmed(is_commit: bool) -> None:
    driver, owner = opened()
    driver.end(owner, is_commit=is_commit, version=5)
    never_opened = (owner.producer_id, owner.producer_epoch + 1)
    assert driver.end(never_opened, is_commit=is_commit, version=4) is INVALID
