"""Transactions that wait for an outside decision (KIP-939): InitProducerId v6, with the setting switched on."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.api_versions import ApiVersionsRequest
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import Shop

HOUR_MS = 3_600_000
INIT_PRODUCER_ID = 22
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


@pytest.fixture
def two_phase(open_shop: OpenShop) -> Shop:
    return open_shop(transaction_two_phase_commit_enable="true")


def test_a_two_phase_transaction_waits_for_hours_and_ends_when_somebody_initialises_the_id(two_phase: Shop) -> None:
    """Scenario 50."""
    producer = two_phase.producer(version=6, enable2_pc=True)
    producer.send(b"a")
    for _ in range(5):
        two_phase.broker.sleep(HOUR_MS)
    two_phase.kill()
    for _ in range(5):
        two_phase.broker.sleep(HOUR_MS)
    assert two_phase.state() == "Ongoing"
    assert two_phase.init().error_code == BUSY
    assert (two_phase.state(), two_phase.committed()) == ("CompleteAbort", [])


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_a_kept_transaction_is_decided_by_the_new_client_alone(two_phase: Shop, committed: bool) -> None:
    """Scenario 51."""
    old = two_phase.producer(version=6, enable2_pc=True)
    old.send(b"a")
    two_phase.kill()
    kept = two_phase.init(version=6, enable2_pc=True, keep_prepared_txn=True)
    assert (kept.error_code, kept.ongoing_txn_producer_id, kept.ongoing_txn_producer_epoch) == (0, *old.identity)
    client = kept.producer_id, kept.producer_epoch
    two_phase.restart()
    assert old.commit().error_code == ErrorCode.PRODUCER_FENCED
    reply = two_phase.end(client, committed=committed)
    assert reply.error_code == ErrorCode.NONE
    assert two_phase.committed() == ([b"a"] if committed else [])
    again = two_phase.init(version=6, enable2_pc=True, keep_prepared_txn=True)
    assert (again.error_code, again.ongoing_txn_producer_id, again.ongoing_txn_producer_epoch) == (0, -1, -1)
    assert (again.producer_id, again.producer_epoch) > (reply.producer_id, reply.producer_epoch)


def test_a_broker_that_does_not_allow_it_neither_offers_nor_takes_it(shop: Shop, two_phase: Shop) -> None:
    def offered(each: Shop) -> int:
        rows = each.broker.ask(ApiVersionsRequest("test", "1"), 3).api_keys
        return next(int(row.max_version) for row in rows if row.api_key == INIT_PRODUCER_ID)

    assert (offered(shop), offered(two_phase)) == (5, 6)
    refused = shop.init(version=6, enable2_pc=True)
    assert refused.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert shop.init(version=6, keep_prepared_txn=True).error_code == ErrorCode.UNSUPPORTED_VERSION
