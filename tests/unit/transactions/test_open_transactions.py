"""A delayed EndTxn of the classic flow must not end a later transaction, and nobody alive may be hurt by that rule."""

import pytest

from fencepost.errors import CloseConnection, ErrorCode
from fencepost.transactions.log_records import Caller
from fencepost.transactions.states import TransactionState
from fencepost.types import NO_IDENTITY, ProducerIdentity
from tests.unit.transactions.driver import ID, INVOICES, SHIPMENTS, CoordinatorDriver

OLD = Caller("app", "127.0.0.1:1", 1)
MIDDLE = Caller("app", "127.0.0.1:2", 2)
NEW = Caller("app", "127.0.0.1:3", 3)
NEWEST = Caller("app", "127.0.0.1:4", 4)


def second_transaction_on_a_new_connection() -> tuple[CoordinatorDriver, ProducerIdentity]:
    """The client gave up its first connection, ended its transaction on another and opened the next there."""
    driver = CoordinatorDriver()
    owner = driver.owner(caller=OLD)
    driver.add(owner, INVOICES, caller=OLD)
    assert driver.end(owner, version=3, caller=NEW) == NO_IDENTITY
    driver.add(owner, SHIPMENTS, caller=NEW)
    return driver, owner


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("is_commit", [True, False])
def test_a_late_end_txn_closes_its_connection_and_ends_nothing(version: int, is_commit: bool) -> None:
    driver, owner = second_transaction_on_a_new_connection()
    reply = driver.end(owner, is_commit=is_commit, version=version, caller=OLD)
    assert isinstance(reply, CloseConnection)
    assert "connection 1" in reply.reason
    assert driver.transaction.state is TransactionState.ONGOING


def test_a_living_client_that_was_turned_away_succeeds_on_its_new_connection() -> None:
    driver, owner = second_transaction_on_a_new_connection()
    assert isinstance(driver.end(owner, version=3, caller=OLD), CloseConnection)
    assert driver.end(owner, version=3, caller=NEWEST) == NO_IDENTITY


@pytest.mark.parametrize("request_on_old", ["Produce", "AddPartitionsToTxn"])
def test_an_older_connection_that_took_part_may_end_the_transaction(request_on_old: str) -> None:
    driver, owner = second_transaction_on_a_new_connection()
    if request_on_old == "AddPartitionsToTxn":
        driver.add(owner, SHIPMENTS, caller=OLD)
    else:
        driver.state.carried_on(ID, OLD.connection_id)
    assert driver.end(owner, version=3, caller=OLD) == NO_IDENTITY


def test_a_client_with_separate_connections_opens_and_ends_on_its_coordinator_connection() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner(caller=OLD)
    for _ in range(3):
        driver.add(owner, INVOICES, caller=OLD)
        driver.state.carried_on(ID, NEW.connection_id)
        assert driver.end(owner, version=1, caller=OLD) == NO_IDENTITY


def test_what_was_carried_for_an_earlier_transaction_does_not_count() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner(caller=OLD)
    driver.add(owner, INVOICES, caller=MIDDLE)
    driver.state.carried_on(ID, OLD.connection_id)
    assert driver.end(owner, version=3, caller=OLD) == NO_IDENTITY
    driver.add(owner, INVOICES, caller=NEW)
    assert isinstance(driver.end(owner, version=3, caller=OLD), CloseConnection)
    assert isinstance(driver.end(owner, version=3, caller=MIDDLE), CloseConnection)


def test_a_driver_on_the_oldest_connection_commits_what_others_wrote_with_the_epoch_bump() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner(caller=OLD)
    driver.add(owner, INVOICES, version=2, caller=NEW)
    driver.add(owner, SHIPMENTS, version=2, caller=NEWEST)
    assert driver.end(owner, version=5, caller=OLD) == ProducerIdentity(owner.producer_id, owner.producer_epoch + 1)


def test_after_a_restart_nobody_is_turned_away() -> None:
    driver, owner = second_transaction_on_a_new_connection()
    assert driver.crashed().end(owner, version=3, caller=OLD) == NO_IDENTITY


def test_a_late_end_txn_with_nothing_open_is_answered_as_ever() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner(caller=OLD)
    driver.add(owner, INVOICES, caller=NEW)
    driver.end(owner, version=3, caller=NEW)
    assert driver.end(owner, version=3, caller=OLD) == NO_IDENTITY
    assert driver.end(owner, is_commit=False, version=3, caller=OLD) is ErrorCode.INVALID_TXN_STATE


def test_a_fenced_client_is_told_so_and_not_just_cut_off() -> None:
    driver = CoordinatorDriver()
    zombie = driver.owner(caller=OLD)
    owner = driver.owner(caller=NEW)
    driver.add(owner, INVOICES, caller=NEW)
    assert driver.end(zombie, version=3, caller=OLD) is ErrorCode.PRODUCER_FENCED
