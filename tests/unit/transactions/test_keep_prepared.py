"""KIP-939: a prepared transaction outlives its client, and only the newest client may decide it."""

from dataclasses import replace

import pytest

from fencepost.errors import ErrorCode
from fencepost.settings import BrokerSettings
from fencepost.transactions.states import TransactionState
from fencepost.types import ProducerIdentity
from fencepost.wire.messages.init_producer_id import InitProducerIdResponse
from tests.unit.transactions.driver import INVOICES, OTHER, SHIPMENTS, CoordinatorDriver

TWO_PHASE = BrokerSettings(transaction_two_phase_commit_enable=True)


def prepared() -> tuple[CoordinatorDriver, ProducerIdentity]:
    driver = CoordinatorDriver(TWO_PHASE)
    owner = driver.owner(enable_2pc=True)
    driver.add(owner, INVOICES, version=2)
    return driver, owner


def keep(driver: CoordinatorDriver) -> InitProducerIdResponse:
    driver.init(enable_2pc=True, keep_prepared_txn=True, caller=OTHER)
    assert isinstance(driver.response, InitProducerIdResponse)
    return driver.response


def test_each_further_call_moves_only_the_clients_identity() -> None:
    driver, _ = prepared()
    replies = [keep(driver) for _ in range(3)]
    assert [(reply.producer_epoch, reply.ongoing_txn_producer_epoch) for reply in replies] == [(1, 0), (2, 0), (3, 0)]
    driver = driver.crashed()
    assert driver.end((0, 2), version=5) is ErrorCode.PRODUCER_FENCED
    assert driver.end((0, 3), version=5) == ProducerIdentity(0, 4)
    assert [marker.producer_epoch for marker in driver.markers] == [1]


def test_the_old_client_is_fenced_and_told_by_whom() -> None:
    driver, owner = prepared()
    keep(driver)
    assert driver.add(owner, SHIPMENTS, version=2) is ErrorCode.PRODUCER_FENCED
    assert "InitProducerId(keepPreparedTxn) by client 'client-2'" in driver.refusal.message


def test_a_kept_transaction_takes_no_more_partitions_and_no_classic_end() -> None:
    driver, _ = prepared()
    keep(driver)
    assert driver.add((0, 1), SHIPMENTS, version=2) is ErrorCode.INVALID_TXN_STATE
    assert driver.end((0, 1), version=4) is ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize("level", [1, 2])
def test_a_plain_initialisation_is_the_way_out(level: int) -> None:
    driver, _ = prepared()
    driver.state.settings = replace(TWO_PHASE, transaction_version=level)
    keep(driver)
    assert driver.init(caller=OTHER) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert driver.transaction.state is TransactionState.COMPLETE_ABORT
    assert driver.transaction.identity == (0, 2)
    assert [(marker.producer_epoch, marker.is_commit) for marker in driver.markers] == [(1, False)]


def test_keeping_at_the_last_epoch_gives_the_client_a_fresh_producer_id() -> None:
    driver = CoordinatorDriver(TWO_PHASE)
    driver.put(TransactionState.ONGOING, producer_epoch=32766, client_transaction_version=2)
    reply = keep(driver)
    assert (reply.producer_id, reply.producer_epoch) == (8, 0)
    assert (reply.ongoing_txn_producer_id, reply.ongoing_txn_producer_epoch) == (7, 32766)
    assert driver.init("another") == ProducerIdentity(9, 0)
    assert driver.end((8, 0), version=5) == ProducerIdentity(8, 1)
    assert [(marker.producer_id, marker.producer_epoch) for marker in driver.markers] == [(7, 32767)]
    assert driver.end((8, 0), version=5) == ProducerIdentity(8, 1)


def test_a_crash_anywhere_in_the_end_of_a_kept_transaction_rolls_forward_to_the_same() -> None:
    driver, _ = prepared()
    keep(driver)
    before_end = len(driver.journal)
    driver.end((0, 1), version=5)
    for entries_kept in range(before_end + 1, len(driver.journal) + 1):
        assert driver.crashed(entries_kept).transaction == driver.transaction
    assert driver.crashed(before_end).end((0, 1), version=5) == ProducerIdentity(0, 2)
