import pytest

from fencepost.settings import BrokerSettings
from fencepost.transactions.ending import decide_abort
from tests.unit.transactions.driver import ID, INVOICES, CoordinatorDriver

WEEK_MS = BrokerSettings().transactional_id_expiration_ms


def open_transaction(timeout_ms: int = 60_000) -> CoordinatorDriver:
    driver = CoordinatorDriver()
    owner = driver.owner(timeout_ms=timeout_ms)
    driver.add(owner, INVOICES)
    return driver


@pytest.mark.parametrize("timeout_ms", [1, 1000, 900_000])
def test_a_transaction_is_aborted_after_its_timeout_and_not_before(timeout_ms: int) -> None:
    driver = open_transaction(timeout_ms)
    assert driver.sweep() == []
    driver.pass_time(timeout_ms)
    assert driver.sweep() == []
    driver.pass_time(1)
    assert driver.sweep() == [ID]
    assert driver.sweep() == []


def test_adding_partitions_does_not_prolong_a_transaction() -> None:
    driver = open_transaction()
    driver.sweep()
    driver.pass_time(50_000)
    driver.add(driver.transaction.identity, INVOICES._replace(partition=9))
    driver.pass_time(10_001)
    assert driver.sweep() == [ID]


def test_the_next_transaction_of_the_same_epoch_has_its_own_time() -> None:
    driver = open_transaction()
    driver.sweep()
    driver.pass_time(59_000)
    owner = driver.transaction.identity
    driver.end(owner, version=4)
    driver.add(owner, INVOICES)
    driver.pass_time(2_000)
    assert driver.sweep() == []
    driver.pass_time(60_000)
    assert driver.sweep() == []
    driver.pass_time(1)
    assert driver.sweep() == [ID]


def test_several_transactions_at_the_last_epoch_time_out_together_onto_different_producer_ids() -> None:
    driver = CoordinatorDriver()
    for producer_id in range(3):
        transactional_id = f"id-{producer_id}"
        driver.put_id(transactional_id, producer_id=producer_id, producer_epoch=32766)
        driver.add((producer_id, 32766), INVOICES, transactional_id=transactional_id)
    driver.time_out()
    assert [transaction.identity for transaction in driver.state.transactions.values()] == [(3, 0), (4, 0), (5, 0)]


def test_an_abort_of_an_id_with_nothing_open_does_nothing() -> None:
    driver = CoordinatorDriver()
    driver.owner()
    for transactional_id in (ID, "unknown"):
        decision = decide_abort(driver.state, transactional_id, now_ms=driver.now_ms)
        assert decision.entries == ()


def test_an_id_expires_when_it_was_idle_for_the_whole_time() -> None:
    driver = CoordinatorDriver()
    driver.owner()
    assert driver.expire() == []
    driver.pass_time(WEEK_MS - 1)
    assert driver.expire() == []
    driver.pass_time(1)
    assert driver.expire() == [ID]
    assert driver.crashed().state.transactions == {}


def test_any_use_of_an_id_starts_its_idle_time_again() -> None:
    driver = CoordinatorDriver()
    driver.owner()
    driver.expire()
    driver.pass_time(WEEK_MS - 1)
    driver.owner()
    driver.expire()
    driver.pass_time(WEEK_MS - 1)
    assert driver.expire() == []


def test_a_stamp_from_the_future_makes_an_id_no_older_than_the_restart() -> None:
    driver = CoordinatorDriver()
    driver.owner()
    driver.now_ms -= 3_600_000
    driver = driver.crashed()
    driver.pass_time(WEEK_MS - 1)
    assert driver.expire() == []
    driver.pass_time(1)
    assert driver.expire() == [ID]
