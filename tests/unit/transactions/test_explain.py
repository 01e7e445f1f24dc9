import pytest

from fencepost.errors import ErrorCode
from fencepost.records.record import Record
from fencepost.transactions.fencing_journal import TAKE_OVERS_KEPT, format_time
from fencepost.transactions.log_records import Caller
from tests.unit.transactions.driver import ID, INVOICES, OTHER, CoordinatorDriver


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_fenced_producer_is_told_who_when_how_and_from_which_epoch_to_which(is_restarted: bool) -> None:
    driver = CoordinatorDriver()
    zombie = driver.owner()
    driver.pass_time(1234)
    driver.init(caller=OTHER)
    driver = driver.crashed() if is_restarted else driver
    assert driver.add(zombie, INVOICES) is ErrorCode.PRODUCER_FENCED
    assert driver.refusal.message == (
        "transactional id 'shop-0' is at producer id 0 epoch 1, the request came with producer id 0 epoch 0. "
        "InitProducerId by client 'client-2' from 127.0.0.1:1002 at 2023-11-14T22:13:21.234+00:00 moved it "
        "from producer id 0 epoch 0 to producer id 0 epoch 1."
    )


def test_only_records_that_change_the_identity_carry_a_cause() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES)
    driver.end(owner, version=4)
    driver.add(owner, INVOICES, version=2)
    driver.end(owner, version=5)
    records = [entry for entry in driver.journal if isinstance(entry, Record)]
    states = zip(records, driver.logged_states, strict=True)
    carrying = [(index, state.kafka_name) for index, (record, state) in enumerate(states) if record.headers]
    assert carrying == [(0, "Empty"), (5, "PrepareCommit")]


def test_an_epoch_from_the_future_is_named_as_such() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    assert driver.add((owner.producer_id, 9), INVOICES) is ErrorCode.PRODUCER_FENCED
    assert driver.refusal.message.endswith("That epoch was never handed out.")


def test_the_journal_is_bounded_and_says_so_when_it_no_longer_knows() -> None:
    driver = CoordinatorDriver()
    zombie = driver.owner()
    for _ in range(TAKE_OVERS_KEPT + 1):
        driver.owner()
    assert len(driver.state.fencing_journals[ID].changes) == TAKE_OVERS_KEPT
    driver.add(zombie, INVOICES)
    assert driver.refusal.message.endswith("Who replaced it is not among the last 16 changes.")


def test_a_client_id_of_any_characters_survives_a_restart() -> None:
    driver = CoordinatorDriver()
    zombie = driver.owner()
    driver.owner(caller=Caller('ü"\n\\', "[::1]:9", 3))
    driver = driver.crashed()
    driver.add(zombie, INVOICES)
    assert repr('ü"\n\\') in driver.refusal.message


def test_a_huge_client_id_is_remembered_by_its_beginning() -> None:
    driver = CoordinatorDriver()
    zombie = driver.owner()
    driver.owner(caller=Caller("x" * 32_000, "127.0.0.1:1", 3))
    driver.add(zombie, INVOICES)
    assert f"by client '{'x' * 128}' from" in driver.refusal.message


@pytest.mark.parametrize("at_ms", [2**62, -(2**62)])
def test_a_time_outside_the_calendar_stays_a_number(at_ms: int) -> None:
    assert format_time(at_ms) == f"{at_ms} ms"
