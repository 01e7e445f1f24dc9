"""Golden tables: what each request gets in each state that can be stored. No cell is undefined."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.transactions.states import NEVER_STORED, TransactionState
from fencepost.types import ProducerIdentity
from tests.unit.transactions.driver import INVOICES, SHIPMENTS, CoordinatorDriver

S = TransactionState
STORED = [state for state in S if state not in NEVER_STORED]

# The id is at producer 7 epoch 5. "done": answered without a record. "end": decided now. Numbers are error codes.
END_TXN_CLASSIC = {
    S.ONGOING: {"commit": "end", "abort": "end"},
    S.PREPARE_COMMIT: {"commit": 51, "abort": 48},
    S.PREPARE_ABORT: {"commit": 48, "abort": 51},
    S.COMPLETE_COMMIT: {"commit": "done", "abort": 48},
    S.COMPLETE_ABORT: {"commit": 48, "abort": "done"},
    S.EMPTY: {"commit": 48, "abort": 48},
}
END_TXN_EPOCH_BUMP = {
    S.ONGOING: {("commit", 4): 90, ("commit", 5): "end", ("abort", 4): 90, ("abort", 5): "end"},
    S.PREPARE_COMMIT: {("commit", 4): 51, ("commit", 5): 90, ("abort", 4): 48, ("abort", 5): 90},
    S.PREPARE_ABORT: {("commit", 4): 48, ("commit", 5): 90, ("abort", 4): 51, ("abort", 5): 90},
    S.COMPLETE_COMMIT: {("commit", 4): "done", ("commit", 5): 48, ("abort", 4): 48, ("abort", 5): "end"},
    S.COMPLETE_ABORT: {("commit", 4): 90, ("commit", 5): 48, ("abort", 4): "done", ("abort", 5): "end"},
    S.EMPTY: {("commit", 4): 90, ("commit", 5): 48, ("abort", 4): 90, ("abort", 5): "end"},
}
INIT_PRODUCER_ID = {  # bare, with the current epoch, with the epoch before it, with one that is long gone
    S.EMPTY: [(7, 6), (7, 6), (7, 5), 90],
    S.ONGOING: [51, 51, 90, 90],
    S.PREPARE_COMMIT: [51, 51, 51, 51],
    S.PREPARE_ABORT: [51, 51, 51, 51],
    S.COMPLETE_COMMIT: [(7, 6), (7, 6), (7, 5), 90],
    S.COMPLETE_ABORT: [(7, 6), (7, 6), (7, 5), 90],
}
ADD_PARTITIONS = {  # a partition that is there, a new one, with an older epoch, with another producer id
    S.EMPTY: ["Ongoing", "Ongoing", 90, 49],
    S.ONGOING: ["nothing", "Ongoing", 90, 49],
    S.PREPARE_COMMIT: [51, 51, 90, 49],
    S.PREPARE_ABORT: [51, 51, 90, 49],
    S.COMPLETE_COMMIT: ["Ongoing", "Ongoing", 90, 49],
    S.COMPLETE_ABORT: ["Ongoing", "Ongoing", 90, 49],
}
VERIFY_PARTITIONS = {  # a partition that was added, one that was not
    S.EMPTY: [120, 120],
    S.ONGOING: [0, 120],
    S.PREPARE_COMMIT: 51,
    S.PREPARE_ABORT: 51,
    S.COMPLETE_COMMIT: [120, 120],
    S.COMPLETE_ABORT: [120, 120],
}


def coordinator(state: TransactionState, *, ended_in_flow: int = 2) -> CoordinatorDriver:
    driver = CoordinatorDriver()
    driver.put(state, last_producer_epoch=4, client_transaction_version=ended_in_flow)
    return driver


def end_txn(driver: CoordinatorDriver, epoch: int, *, is_commit: bool, version: int) -> object:
    entries_before = len(driver.journal)
    reply = driver.end((7, epoch), is_commit=is_commit, version=version)
    if isinstance(reply, ErrorCode):
        assert len(driver.journal) == entries_before
        return int(reply)
    assert isinstance(reply, ProducerIdentity)
    return "end" if len(driver.journal) > entries_before else "done"


def test_the_golden_tables_cover_every_state_that_can_be_stored() -> None:
    for table in (END_TXN_CLASSIC, END_TXN_EPOCH_BUMP, INIT_PRODUCER_ID, ADD_PARTITIONS, VERIFY_PARTITIONS):
        assert set(table) == set(STORED)


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("result", ["commit", "abort"])
def test_end_txn_of_the_classic_flow(state: TransactionState, version: int, result: str) -> None:
    driver = coordinator(state, ended_in_flow=0)
    assert end_txn(driver, 5, is_commit=result == "commit", version=version) == END_TXN_CLASSIC[state][result]


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("epoch", [-1, 4, 6, 32766])
def test_end_txn_of_the_classic_flow_insists_on_the_epoch(state: TransactionState, epoch: int) -> None:
    assert end_txn(coordinator(state), epoch, is_commit=True, version=4) == 90


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("result", ["commit", "abort"])
@pytest.mark.parametrize("epoch", [4, 5])
def test_end_txn_with_the_epoch_bump(state: TransactionState, result: str, epoch: int) -> None:
    driver = coordinator(state)
    expected = END_TXN_EPOCH_BUMP[state][(result, epoch)]
    assert end_txn(driver, epoch, is_commit=result == "commit", version=5) == expected
    if expected == "end":
        assert driver.transaction.producer_epoch == 6
        assert driver.transaction.last_producer_epoch == 5


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("epoch", [-1, 3, 6, 32766, 32767])
@pytest.mark.parametrize("is_commit", [True, False])
def test_end_txn_with_the_epoch_bump_refuses_any_other_epoch(
    state: TransactionState, epoch: int, is_commit: bool
) -> None:
    assert end_txn(coordinator(state), epoch, is_commit=is_commit, version=5) == 90


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("version", [4, 5])
def test_end_txn_of_another_producer_id_has_no_mapping(state: TransactionState, version: int) -> None:
    driver = coordinator(state)
    assert driver.end((8, 5), version=version) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("case", range(4))
def test_init_producer_id(state: TransactionState, case: int) -> None:
    presented = [(-1, -1), (7, 5), (7, 4), (7, 2)][case]
    reply = coordinator(state).init(presented=presented)
    expected = INIT_PRODUCER_ID[state][case]
    if isinstance(expected, int):
        assert reply == expected
    else:
        assert reply == ProducerIdentity(*expected)


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("epoch", [5, 32766])
def test_init_producer_id_with_another_producer_id_is_fenced(state: TransactionState, epoch: int) -> None:
    assert coordinator(state).init(presented=(8, epoch)) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("state", STORED)
@pytest.mark.parametrize("case", range(4))
def test_add_partitions(state: TransactionState, case: int) -> None:
    driver = coordinator(state)
    before = len(driver.journal)
    presented, partition = [((7, 5), INVOICES), ((7, 5), SHIPMENTS), ((7, 4), INVOICES), ((8, 5), INVOICES)][case]
    answer = driver.add(presented, partition)
    expected = ADD_PARTITIONS[state][case]
    if expected == "Ongoing":
        assert answer is ErrorCode.NONE
        assert driver.transaction.state is S.ONGOING
        assert partition in driver.transaction.partitions
        assert len(driver.journal) == before + 1
    else:
        assert answer == (ErrorCode.NONE if expected == "nothing" else expected)
        assert len(driver.journal) == before


@pytest.mark.parametrize("state", STORED)
def test_verify_partitions(state: TransactionState) -> None:
    driver = coordinator(state)
    assert driver.verify((7, 5), INVOICES, SHIPMENTS) == VERIFY_PARTITIONS[state]
    assert driver.verify((7, 4), INVOICES) is ErrorCode.PRODUCER_FENCED
    assert driver.verify((8, 5), INVOICES) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("state", STORED)
def test_the_timeout_sweep_touches_only_open_transactions(state: TransactionState) -> None:
    driver = coordinator(state)
    driver.sweep()
    driver.pass_time(10**9)
    driver.sweep()
    assert driver.transaction.state is (S.COMPLETE_ABORT if state is S.ONGOING else state)


@pytest.mark.parametrize("state", STORED)
def test_the_expiry_sweep_touches_only_ids_that_are_settled(state: TransactionState) -> None:
    driver = coordinator(state)
    driver.expire()
    driver.pass_time(10**12)
    driver.expire()
    assert (len(driver.state.transactions) == 0) == state.can_expire


@pytest.mark.parametrize("state", STORED)
def test_recovery_finishes_what_is_prepared_and_leaves_the_rest(state: TransactionState) -> None:
    driver = coordinator(state).crashed()
    finished = {S.PREPARE_COMMIT: S.COMPLETE_COMMIT, S.PREPARE_ABORT: S.COMPLETE_ABORT}
    assert driver.transaction.state is finished.get(state, state)
    assert len(driver.markers) == (1 if state in finished else 0)
