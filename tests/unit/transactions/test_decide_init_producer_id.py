import pytest

from fencepost.errors import ErrorCode
from fencepost.settings import BrokerSettings
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import NO_TIMEOUT_MS
from fencepost.types import ProducerIdentity
from tests.unit.transactions.driver import ID, INVOICES, OTHER, CoordinatorDriver

TWO_PHASE = BrokerSettings(transaction_two_phase_commit_enable=True)


def test_a_new_id_starts_at_epoch_0_and_each_taking_over_moves_it_on() -> None:
    driver = CoordinatorDriver()
    assert [driver.init() for _ in range(3)] == [ProducerIdentity(0, epoch) for epoch in range(3)]


def test_a_retry_keeps_working_after_the_answer_was_the_last_usable_epoch() -> None:
    driver = CoordinatorDriver()
    driver.put(TransactionState.EMPTY, producer_epoch=32765)
    assert driver.init(presented=(7, 32765)) == ProducerIdentity(7, 32766)
    assert driver.init(presented=(7, 32765)) == ProducerIdentity(7, 32766)


@pytest.mark.parametrize("presented", [(-1, -1), (7, 32766)])
def test_an_exhausted_epoch_moves_to_a_fresh_producer_id(presented: tuple[int, int]) -> None:
    driver = CoordinatorDriver()
    driver.put(TransactionState.EMPTY, producer_epoch=32766)
    assert driver.init(presented=presented) == ProducerIdentity(8, 0)
    assert driver.transaction.previous_producer_id == 7


def test_the_retry_of_a_move_to_a_fresh_producer_id_is_recognised_every_time_also_after_a_restart() -> None:
    driver = CoordinatorDriver()
    driver.put(TransactionState.EMPTY, producer_epoch=32766)
    driver.init(presented=(7, 32766))
    for _ in range(3):
        driver = driver.crashed()
        assert driver.init(presented=(7, 32766)) == ProducerIdentity(8, 0)


def test_after_a_bare_move_to_a_fresh_producer_id_the_old_owner_is_fenced() -> None:
    driver = CoordinatorDriver()
    driver.put(TransactionState.EMPTY, producer_epoch=32766)
    driver.init(caller=OTHER)
    assert driver.init(presented=(7, 32766)) is ErrorCode.PRODUCER_FENCED


def test_an_epoch_of_the_old_producer_id_is_not_taken_for_one_of_the_fresh_one() -> None:
    driver = CoordinatorDriver()
    driver.put(TransactionState.EMPTY, producer_epoch=32766)
    driver.init(presented=(7, 32766))
    assert driver.init(presented=(8, 32766)) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize(("presented", "error_code"), [((7, 32766), 51), ((7, 5), 90)])
def test_only_the_last_epoch_of_the_old_producer_id_still_counts(presented: tuple[int, int], error_code: int) -> None:
    driver = CoordinatorDriver()
    driver.put(TransactionState.PREPARE_ABORT, producer_id=8, previous_producer_id=7)
    assert driver.init(presented=presented) == error_code


@pytest.mark.parametrize(("transactional_id", "is_accepted"), [("a" * 32767, True), ("a" * 32766 + "ü", False)])
def test_an_id_that_the_log_cannot_hold_is_refused(transactional_id: str, is_accepted: bool) -> None:
    driver = CoordinatorDriver()
    reply = driver.init(transactional_id)
    assert reply == (ProducerIdentity(0, 0) if is_accepted else ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize("timeout_ms", [1, 900_000])
def test_the_timeout_of_the_last_initialisation_counts(timeout_ms: int) -> None:
    driver = CoordinatorDriver()
    driver.init()
    driver.init(timeout_ms=timeout_ms)
    assert driver.transaction.timeout_ms == timeout_ms


def test_a_producer_without_transactional_id_gets_a_fresh_producer_id_each_time() -> None:
    driver = CoordinatorDriver()
    replies = [driver.init(None), driver.init(None, timeout_ms=0), driver.crashed().init(None)]
    assert replies == [ProducerIdentity(producer_id, 0) for producer_id in range(3)]
    assert driver.state.transactions == {}


def test_two_phase_commit_has_no_timeout_whatever_the_request_says() -> None:
    driver = CoordinatorDriver(TWO_PHASE)
    driver.owner(enable_2pc=True, timeout_ms=-5)
    assert driver.transaction.timeout_ms == NO_TIMEOUT_MS


def test_no_more_ids_than_the_limit_are_created_and_known_ones_go_on() -> None:
    driver = CoordinatorDriver(BrokerSettings(transactional_ids_max=2))
    driver.init("a")
    driver.init("b")
    assert driver.init("c") is ErrorCode.POLICY_VIOLATION
    assert "transactional.ids.max" in driver.refusal.message
    assert driver.init("a") == ProducerIdentity(0, 1)


def test_initialising_clears_what_the_finished_transaction_left() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner, INVOICES)
    driver.end(owner, version=4)
    driver.init()
    transaction = driver.state.transactions[ID]
    assert transaction.state is TransactionState.EMPTY
    assert transaction.partitions == frozenset()
    assert transaction.start_timestamp_ms == -1


def test_below_level_2_an_owner_cannot_resume_after_its_own_timeout() -> None:
    driver = CoordinatorDriver(BrokerSettings(transaction_version=1))
    owner = driver.owner()
    driver.add(owner)
    driver.time_out()
    assert driver.init(presented=owner) is ErrorCode.PRODUCER_FENCED


def test_at_level_2_an_owner_resumes_after_its_own_timeout() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner)
    driver.time_out()
    assert driver.init(presented=owner) == ProducerIdentity(owner.producer_id, owner.producer_epoch + 1)


def test_the_owner_itself_may_abort_what_it_has_open() -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    driver.add(owner)
    assert driver.init(presented=owner) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert driver.transaction.state is TransactionState.COMPLETE_ABORT
    assert driver.init(presented=owner) == ProducerIdentity(owner.producer_id, owner.producer_epoch + 1)
