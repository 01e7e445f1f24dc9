import pytest

from fencepost.errors import CorruptLog, ErrorCode
from fencepost.settings import BrokerSettings
from fencepost.transactions.checkpoint import dump_state, load_state
from fencepost.transactions.state import CoordinatorState
from tests.unit.transactions.driver import ID, INVOICES, OTHER, CoordinatorDriver


def loaded_from(dumped: bytes) -> CoordinatorState:
    return load_state(dumped, BrokerSettings())


def busy_coordinator() -> CoordinatorDriver:
    driver = CoordinatorDriver()
    driver.init(None)
    driver.add(driver.owner("open"), INVOICES, transactional_id="open", version=2)
    driver.owner("ü \U0001f600")
    for _ in range(5):
        driver.owner(caller=OTHER)
    return driver


def test_the_newest_fencing_is_still_explained_after_a_checkpoint() -> None:
    driver = busy_coordinator()
    zombie = driver.transaction.identity
    driver.owner(caller=OTHER)
    driver.state = loaded_from(dump_state(driver.state))
    assert driver.add((zombie.producer_id, zombie.producer_epoch), INVOICES) is ErrorCode.PRODUCER_FENCED
    assert "client-2" in driver.refusal.message
    assert len(driver.state.fencing_journals[ID].changes) == 2


def test_nothing_comes_back_from_nothing() -> None:
    empty = dump_state(CoordinatorState(BrokerSettings()))
    assert dump_state(loaded_from(empty)) == empty


def test_bytes_cut_anywhere_are_corrupt() -> None:
    dumped = dump_state(busy_coordinator().state)
    for length in range(len(dumped)):
        with pytest.raises(CorruptLog):
            loaded_from(dumped[:length])


@pytest.mark.parametrize("damage", [b"\x00\x02", b"\x7f\xff"])
def test_a_checkpoint_of_another_version_is_refused(damage: bytes) -> None:
    dumped = dump_state(busy_coordinator().state)
    with pytest.raises(CorruptLog, match="version"):
        loaded_from(damage + dumped[2:])


def test_bytes_after_the_end_are_corrupt() -> None:
    with pytest.raises(CorruptLog, match="follow"):
        loaded_from(dump_state(busy_coordinator().state) + b"\x00")
