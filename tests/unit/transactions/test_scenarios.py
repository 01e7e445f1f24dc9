"""The coordinator's side of the fault scenarios: named by what they show, numbered as in section 10 of the rules."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.transactions.decision import CoordinatorSettings, EndTxnReply, InitProducerIdReply
from fencepost.transactions.queries import describe_transaction
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import ProducerIdentity
from tests.unit.transactions.driver import ID, INVOICES, OTHER, SHIPMENTS, CoordinatorDriver

S = TransactionState
FENCED = ErrorCode.PRODUCER_FENCED
INVALID = ErrorCode.INVALID_TXN_STATE
NO_MAPPING = ErrorCode.INVALID_PRODUCER_ID_MAPPING
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS
DONE_CLASSIC = EndTxnReply()


def opened(
    *, version: int = 2, settings: CoordinatorSettings | None = None
) -> tuple[CoordinatorDriver, ProducerIdentity]:
    """An open transaction on two partitions; `version` 2 is the flow with the epoch bump."""
    driver = CoordinatorDriver(settings)
    owner = driver.owner()
    assert driver.add(owner, INVOICES, SHIPMENTS, version=version) is ErrorCode.NONE
    return driver, owner


def at_last_epoch(state: TransactionState, **changes: object) -> tuple[CoordinatorDriver, ProducerIdentity]:
    driver = CoordinatorDriver()
    driver.put(state, producer_epoch=32766, **changes)
    return driver, ProducerIdentity(7, 32766)


def test_11_a_transaction_without_data_times_out_and_its_partitions_get_abort_markers() -> None:
    driver, _ = opened()
    driver = driver.crashed()
    driver.time_out()
    assert driver.transaction.state is S.COMPLETE_ABORT
    assert [(marker.topic_partition, marker.is_commit) for marker in driver.markers] == [
        (INVOICES, False),
        (SHIPMENTS, False),
    ]


@pytest.mark.parametrize(("version", "reply"), [(4, DONE_CLASSIC), (5, EndTxnReply(0, 1))])
def test_12_after_a_crash_an_open_transaction_can_be_committed(version: int, reply: EndTxnReply) -> None:
    driver, owner = opened()
    driver = driver.crashed()
    assert driver.transaction.state is S.ONGOING
    assert driver.end(owner, version=version) == reply
    assert driver.transaction.state is S.COMPLETE_COMMIT


def test_12_after_a_crash_an_open_transaction_that_nobody_ends_is_aborted() -> None:
    driver, _ = opened()
    driver = driver.crashed()
    driver.time_out()
    assert driver.transaction.state is S.COMPLETE_ABORT


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize(("version", "reply"), [(4, DONE_CLASSIC), (5, EndTxnReply(0, 1))])
def test_13_14_15_16_a_crash_anywhere_in_an_end_rolls_forward_from_prepare_and_back_before_it(
    version: int, reply: EndTxnReply, is_commit: bool
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


@pytest.mark.parametrize("version", [4, 5])
def test_17_a_commit_sent_twice_writes_one_set_of_markers_and_answers_both(version: int) -> None:
    driver, owner = opened()
    first = driver.end(owner, version=version)
    assert driver.end(owner, version=version) == first
    assert len(driver.markers) == 2


def test_18_a_commit_that_was_appended_cannot_be_overtaken_by_the_timeout() -> None:
    driver, owner = opened()
    driver.sweep()
    driver.pass_time(60_001)
    driver.end(owner, version=4)
    assert driver.sweep() == []
    assert driver.transaction.state is S.COMPLETE_COMMIT


@pytest.mark.parametrize("version", [4, 5])
def test_19_a_commit_after_the_timeout_is_never_confirmed(version: int) -> None:
    driver, owner = opened()
    driver.time_out()
    assert driver.end(owner, version=version) is FENCED
    assert "transaction timeout of 60000 ms by the coordinator" in driver.refusal.message
    assert all(not marker.is_commit for marker in driver.markers)


def test_20_an_abort_after_the_timeout_is_confirmed_where_the_epoch_tells() -> None:
    driver, owner = opened()
    driver.time_out()
    assert driver.end(owner, is_commit=False, version=5) == EndTxnReply(owner.producer_id, owner.producer_epoch + 1)
    assert driver.end(owner, is_commit=False, version=4) is FENCED


def test_21_after_the_timeout_the_old_epoch_can_neither_add_nor_verify_a_partition() -> None:
    driver, owner = opened()
    driver.time_out()
    assert driver.add(owner, INVOICES, version=2) is FENCED
    assert driver.verify(owner, INVOICES) is FENCED
    assert all(marker.producer_epoch == owner.producer_epoch + 1 for marker in driver.markers)


@pytest.mark.parametrize("level", [1, 2])
def test_22_a_second_instance_aborts_the_first_and_fences_it(level: int) -> None:
    driver, first = opened(settings=CoordinatorSettings(transaction_version=level))
    assert driver.init(caller=OTHER) is BUSY
    assert driver.transaction.state is S.COMPLETE_ABORT
    assert driver.init(caller=OTHER) == InitProducerIdReply(first.producer_id, first.producer_epoch + 2)
    assert driver.end(first, version=4) is FENCED
    assert driver.end(first, version=5) is FENCED
    assert driver.add(first, INVOICES) is FENCED
    assert driver.init(presented=first) is FENCED
    assert "client-2" in driver.refusal.message


@pytest.mark.parametrize("is_restarted", [False, True])
def test_23_an_init_producer_id_whose_answer_was_lost_gets_the_same_answer(is_restarted: bool) -> None:
    driver = CoordinatorDriver()
    owner = driver.owner()
    answer = driver.init(presented=owner)
    assert answer == InitProducerIdReply(owner.producer_id, owner.producer_epoch + 1)
    for _ in range(3):
        driver = driver.crashed() if is_restarted else driver
        assert driver.init(presented=owner) == answer


def test_24_a_stale_init_producer_id_is_refused_and_leaves_the_newer_instance_alone() -> None:
    driver = CoordinatorDriver()
    stale = driver.owner()
    newer = [driver.owner() for _ in range(3)][-1]
    driver.add(newer, INVOICES, version=2)
    assert driver.init(presented=stale) is FENCED
    assert driver.transaction.state is S.ONGOING
    assert driver.end(newer, version=5) == EndTxnReply(newer.producer_id, newer.producer_epoch + 1)


def test_28_the_next_transaction_can_start_as_soon_as_the_end_was_answered() -> None:
    driver, owner = opened()
    reply = driver.end(owner, version=5)
    assert isinstance(reply, EndTxnReply)
    following = (reply.producer_id, reply.producer_epoch)
    assert driver.add(following, INVOICES, version=2) is ErrorCode.NONE
    assert driver.transaction.state is S.ONGOING


@pytest.mark.parametrize("is_commit", [True, False])
def test_30_at_the_last_epoch_an_end_moves_to_a_fresh_producer_id_also_across_a_crash(is_commit: bool) -> None:
    driver, owner = at_last_epoch(S.ONGOING, client_transaction_version=2)
    before_end = len(driver.journal)
    assert driver.end(owner, is_commit=is_commit, version=5) == EndTxnReply(8, 0)
    assert [(marker.producer_id, marker.producer_epoch) for marker in driver.markers] == [(7, 32767)]
    for entries_kept in range(before_end + 1, len(driver.journal) + 1):
        restarted = driver.crashed(entries_kept)
        assert restarted.transaction.identity == (8, 0)
        assert restarted.transaction.previous_producer_id == 7
        assert restarted.transaction.last_producer_epoch == 32766
        assert restarted.end(owner, is_commit=is_commit, version=5) == EndTxnReply(8, 0)
        assert restarted.init(presented=owner) == InitProducerIdReply(8, 0)
        assert restarted.init("another") == InitProducerIdReply(9, 0)


def test_30_the_retry_at_the_last_epoch_is_over_once_the_fresh_producer_id_is_used() -> None:
    driver, owner = at_last_epoch(S.ONGOING, client_transaction_version=2)
    driver.end(owner, version=5)
    driver.add((8, 0), INVOICES, version=2)
    assert driver.end(owner, version=5) is NO_MAPPING
    assert "EndTxn(commit) by client 'client-1'" in driver.refusal.message


@pytest.mark.parametrize(("level", "identity"), [(2, (8, 0)), (1, (7, 32767))])
def test_31_a_timeout_at_the_last_epoch_never_overflows(level: int, identity: tuple[int, int]) -> None:
    driver = CoordinatorDriver(CoordinatorSettings(transaction_version=level))
    driver.put(S.ONGOING, producer_epoch=32766)
    driver.time_out()
    assert driver.transaction.identity == identity
    assert [marker.producer_epoch for marker in driver.markers] == [32767]
    reply = driver.init()
    assert reply == (InitProducerIdReply(8, 1) if level == 2 else InitProducerIdReply(8, 0))


def test_31_taking_over_at_the_last_epoch_moves_to_a_fresh_producer_id() -> None:
    driver, _ = at_last_epoch(S.ONGOING)
    assert driver.init(caller=OTHER) is BUSY
    assert driver.init(caller=OTHER) == InitProducerIdReply(8, 1)


def test_31_an_empty_abort_at_the_last_epoch_moves_to_a_fresh_producer_id() -> None:
    driver, owner = at_last_epoch(S.EMPTY)
    assert driver.end(owner, is_commit=False, version=5) == EndTxnReply(8, 0)
    assert driver.end(owner, is_commit=False, version=5) == EndTxnReply(8, 0)


def test_31_an_abort_at_the_epoch_that_is_kept_for_fencing_does_not_overflow_it() -> None:
    driver = CoordinatorDriver()
    driver.put(S.COMPLETE_ABORT, producer_epoch=32767)
    assert driver.end((7, 32767), is_commit=False, version=5) == EndTxnReply(8, 0)
    assert 32767 in {transaction.producer_epoch for transaction in driver.logged_transactions}


def test_42_an_expired_id_is_unknown_and_starts_again_with_a_fresh_producer_id() -> None:
    driver, owner = opened()
    driver.end(owner, version=4)
    driver.expire()
    driver.pass_time(driver.settings.transactional_id_expiration_ms)
    assert driver.expire() == [ID]
    driver = driver.crashed()
    described = describe_transaction(driver.state, ID)
    assert getattr(described, "error_code", None) is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert driver.end(owner, version=4) is NO_MAPPING
    assert driver.end(owner, version=5) is NO_MAPPING
    assert driver.add(owner, INVOICES) is NO_MAPPING
    assert driver.init(presented=owner) == InitProducerIdReply(owner.producer_id + 1, 0)


def test_45_a_saved_commit_can_be_repeated_until_the_id_is_used_again() -> None:
    driver, saved = opened()
    for _ in range(3):
        driver = driver.crashed()
        assert driver.end(saved, version=5) == EndTxnReply(saved.producer_id, saved.producer_epoch + 1)
    assert len(driver.markers) == 2
    driver.add((saved.producer_id, saved.producer_epoch + 1), INVOICES, version=2)
    assert driver.end(saved, version=5) is FENCED
    assert driver.transaction.state is S.ONGOING


def test_46_a_classic_end_of_a_transaction_of_the_other_flow_keeps_the_epoch_and_writes_classic_markers() -> None:
    driver, saved = opened(version=2)
    assert driver.end(saved, version=4) == DONE_CLASSIC
    assert driver.transaction.identity == saved
    assert {(marker.producer_epoch, marker.transaction_version) for marker in driver.markers} == {(0, 0)}
    assert driver.end(saved, version=4) == DONE_CLASSIC
    assert driver.end(saved, version=5) is INVALID


def test_46_a_classic_repeat_of_an_end_with_the_epoch_bump_is_told_that_it_is_fenced() -> None:
    driver, saved = opened(version=2)
    driver.end(saved, version=5)
    assert driver.end(saved, version=4) is FENCED
    driver, saved = at_last_epoch(S.ONGOING, client_transaction_version=2)
    driver.end(saved, version=5)
    assert driver.end(saved, version=4) is NO_MAPPING


@pytest.mark.parametrize("is_commit", [True, False])
def test_47_a_classic_transaction_one_epoch_later_does_not_pass_for_the_lost_one(is_commit: bool) -> None:
    driver, lost = opened(version=2)
    driver.time_out()
    recovered = driver.owner(presented=lost)
    assert recovered == (lost.producer_id, lost.producer_epoch + 1)
    driver.add(recovered, INVOICES, version=0)
    assert driver.end(recovered, is_commit=is_commit, version=4) == DONE_CLASSIC
    assert driver.end(lost, is_commit=is_commit, version=5) is FENCED
    assert driver.crashed().end(lost, is_commit=is_commit, version=5) is FENCED


@pytest.mark.parametrize("is_commit", [True, False])
def test_47_a_classic_end_at_an_epoch_where_nothing_was_opened_is_not_confirmed(is_commit: bool) -> None:
    driver, owner = opened(version=2)
    driver.end(owner, is_commit=is_commit, version=5)
    never_opened = (owner.producer_id, owner.producer_epoch + 1)
    assert driver.end(never_opened, is_commit=is_commit, version=4) is INVALID


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000])
def test_49_a_step_of_the_wall_clock_neither_aborts_nor_expires_anything_early(step_ms: int) -> None:
    driver, _ = opened()
    driver.init("idle")
    driver.sweep()
    driver.expire()
    driver.now_ms += step_ms
    assert driver.sweep() == []
    assert driver.expire() == []
    driver.pass_time(60_000)
    assert driver.sweep() == []
    driver.pass_time(1)
    assert driver.sweep() == [ID]
    driver.pass_time(driver.settings.transactional_id_expiration_ms - 60_002)
    assert driver.expire() == []
    driver.pass_time(1)
    assert driver.expire() == ["idle"]


def test_50_with_two_phase_commit_a_transaction_waits_for_ever_and_can_be_terminated_by_initialising() -> None:
    driver = CoordinatorDriver(CoordinatorSettings(transaction_two_phase_commit_enable=True))
    owner = driver.owner(enable_2pc=True)
    driver.add(owner, INVOICES, version=2)
    driver.sweep()
    driver.pass_time(2**40)
    assert driver.sweep() == []
    assert driver.init(caller=OTHER) is BUSY
    assert driver.transaction.state is S.COMPLETE_ABORT


def test_52_every_marker_carries_the_coordinator_epoch_of_this_start() -> None:
    driver, owner = opened(settings=CoordinatorSettings(coordinator_epoch=12))
    driver.end(owner, version=5)
    assert {marker.coordinator_epoch for marker in driver.markers} == {12}
