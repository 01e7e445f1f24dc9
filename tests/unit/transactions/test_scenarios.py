"""The coordinator's side of the fault scenarios: named by what they show, numbered as in section 10 of the rules."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.settings import BrokerSettings
from fencepost.transactions.states import TransactionState
from fencepost.types import NO_IDENTITY, ProducerIdentity
from tests.unit.transactions.driver import INVOICES, OTHER, SHIPMENTS, CoordinatorDriver

S = TransactionState
FENCED = ErrorCode.PRODUCER_FENCED
INVALID = ErrorCode.INVALID_TXN_STATE
NO_MAPPING = ErrorCode.INVALID_PRODUCER_ID_MAPPING
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS
DONE_CLASSIC = NO_IDENTITY


def opened(*, version: int = 2, settings: BrokerSettings | None = None) -> tuple[CoordinatorDriver, ProducerIdentity]:
    """An open transaction on two partitions; `version` 2 is the flow with the epoch bump."""
    driver = CoordinatorDriver(settings)
    owner = driver.owner()
    assert driver.add(owner, INVOICES, SHIPMENTS, version=version) is ErrorCode.NONE
    return driver, owner


def at_last_epoch(state: TransactionState, **changes: object) -> tuple[CoordinatorDriver, ProducerIdentity]:
    driver = CoordinatorDriver()
    driver.put(state, producer_epoch=32766, **changes)
    return driver, ProducerIdentity(7, 32766)


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize(("version", "reply"), [(4, DONE_CLASSIC), (5, ProducerIdentity(0, 1))])
def test_13_14_15_16_a_crash_anywhere_in_an_end_rolls_forward_from_prepare_and_back_before_it(
    version: int, reply: ProducerIdentity, is_commit: bool
) -> None:
    driver, owner = opened()
    before_end = len(driver.journal)
    assert driver.end(owner, is_commit=is_commit, version=version) == reply
    _prepare, *markers, _complete = driver.journal[before_end:]
    assert driver.markers == markers
    assert driver.logged_states[-2:] == (
        [S.PREPARE_COMMIT, S.COMPLETE_COMMIT] if is_commit else [S.PREPARE_ABORT, S.COMPLETE_ABORT]
    )

    rolled_back = driver.crashed(before_end)
    assert rolled_back.transaction.state is S.ONGOING
    assert rolled_back.markers == []
    for entries_kept in range(before_end + 1, len(driver.journal) + 1):
        rolled_forward = driver.crashed(entries_kept)
        assert rolled_forward.transaction == driver.transaction
        assert set(rolled_forward.markers) == set(driver.markers)
        assert rolled_forward.end(owner, is_commit=is_commit, version=version) == reply


def test_15_between_load_and_roll_forward_requests_are_told_to_come_again() -> None:
    driver, owner = opened()
    prepare_at = len(driver.journal) + 1
    driver.end(owner, version=5)
    loading = driver.crashed(prepare_at, is_recovered=False)
    assert loading.transaction.state is S.PREPARE_COMMIT
    assert loading.end(owner, version=5) is BUSY
    assert loading.init() is BUSY
    assert loading.add((owner.producer_id, 1)) is BUSY


@pytest.mark.parametrize("is_commit", [True, False])
def test_30_at_the_last_epoch_an_end_moves_to_a_fresh_producer_id_also_across_a_crash(is_commit: bool) -> None:
    driver, owner = at_last_epoch(S.ONGOING, client_transaction_version=2)
    before_end = len(driver.journal)
    assert driver.end(owner, is_commit=is_commit, version=5) == ProducerIdentity(8, 0)
    assert [(marker.producer_id, marker.producer_epoch) for marker in driver.markers] == [(7, 32767)]
    for entries_kept in range(before_end + 1, len(driver.journal) + 1):
        restarted = driver.crashed(entries_kept)
        assert restarted.transaction.identity == (8, 0)
        assert restarted.transaction.previous_producer_id == 7
        assert restarted.transaction.last_producer_epoch == 32766
        assert restarted.end(owner, is_commit=is_commit, version=5) == ProducerIdentity(8, 0)
        assert restarted.init(presented=owner) == ProducerIdentity(8, 0)
        assert restarted.init("another") == ProducerIdentity(9, 0)


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
    driver, owner = opened(version=2)
    driver.end(owner, is_commit=is_commit, version=5)
    never_opened = (owner.producer_id, owner.producer_epoch + 1)
    assert driver.end(never_opened, is_commit=is_commit, version=4) is INVALID
