"""The table of states against section 3.3 of Kafka's rules, written down a second time."""

import pytest

from fencepost.errors import InvariantBroken
from fencepost.transactions.apply import apply, replay
from fencepost.transactions.log_records import TransactionLogRecord
from fencepost.transactions.states import LEGAL_TRANSITIONS, NEVER_STORED, STATE_DOCS, TransactionState
from tests.unit.transactions.driver import ID, CoordinatorDriver

S = TransactionState

MAY_COME_FROM = {
    S.EMPTY: {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.ONGOING: {S.ONGOING, S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.PREPARE_COMMIT: {S.ONGOING},
    S.PREPARE_ABORT: {S.ONGOING, S.PREPARE_EPOCH_FENCE, S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.COMPLETE_COMMIT: {S.PREPARE_COMMIT},
    S.COMPLETE_ABORT: {S.PREPARE_ABORT},
    S.DEAD: {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT},
    S.PREPARE_EPOCH_FENCE: {S.ONGOING},
}


@pytest.mark.parametrize("target", list(S))
def test_each_state_is_entered_from_the_states_that_kafka_allows(target: TransactionState) -> None:
    assert {source for source, entered in LEGAL_TRANSITIONS if entered is target} == MAY_COME_FROM[target]


def test_every_state_and_every_arrow_is_explained() -> None:
    assert set(STATE_DOCS) == set(S)
    assert all(STATE_DOCS.values())
    assert all(LEGAL_TRANSITIONS.values())


def test_states_have_the_names_and_numbers_of_kafka() -> None:
    assert [(state.value, state.kafka_name) for state in S] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
        (6, "Dead"),
        (7, "PrepareEpochFence"),
    ]


def test_only_ids_without_an_undecided_transaction_can_expire() -> None:
    assert {state for state in S if state.can_expire} == {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}


@pytest.mark.parametrize("source", [state for state in S if state not in NEVER_STORED])
@pytest.mark.parametrize("target", list(S))
def test_apply_takes_legal_arrows_and_stops_at_any_other(source: TransactionState, target: TransactionState) -> None:
    driver = CoordinatorDriver()
    moved = driver.put(source).moved_to(target, now_ms=driver.now_ms)
    record = TransactionLogRecord(ID, moved)
    if (source, target) in LEGAL_TRANSITIONS and target not in NEVER_STORED:
        apply(driver.state, record)
        assert driver.transaction == moved
    else:
        with pytest.raises(InvariantBroken):
            apply(driver.state, record)


@pytest.mark.parametrize("source", [state for state in S if state not in NEVER_STORED])
def test_only_an_id_that_can_expire_gets_a_tombstone(source: TransactionState) -> None:
    driver = CoordinatorDriver()
    driver.put(source)
    if source.can_expire:
        apply(driver.state, TransactionLogRecord(ID, None))
        assert ID not in driver.state.transactions
    else:
        with pytest.raises(InvariantBroken):
            apply(driver.state, TransactionLogRecord(ID, None))


def test_replay_bridges_the_holes_that_cleaning_leaves() -> None:
    driver = CoordinatorDriver()
    ongoing = driver.put(S.ONGOING)
    complete = ongoing.moved_to(S.COMPLETE_COMMIT, now_ms=driver.now_ms, partitions=frozenset())
    replay(driver.state, TransactionLogRecord(ID, complete))
    assert driver.transaction == complete
    assert ID not in driver.state.open_transactions
