"""Timeouts, expiry and clocks that step, by the housekeeping timers and across restarts."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.types import Now
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import SWEEP_MS, Shop

HOUR_MS = 3_600_000
NO_MAPPING = ErrorCode.INVALID_PRODUCER_ID_MAPPING
SHORT_EXPIRY = {
    "transactional_id_expiration_ms": "5000",
    "transaction_remove_expired_transaction_cleanup_interval_ms": "1000",
}


def step_wall_clock(shop: Shop, step_ms: int) -> None:
    shop.broker.now = Now(shop.broker.now.wall_ms + step_ms, shop.broker.now.monotonic_ms)


def test_a_timed_out_transaction_is_aborted_within_one_sweep_of_its_timeout(open_shop: OpenShop, flow: int) -> None:
    """The timer wakes by itself: the core says when it wants to be called."""
    shop = open_shop(transaction_abort_timed_out_transaction_cleanup_interval_ms="100")
    producer = shop.producer(flow=flow, timeout_ms=1_000)
    producer.send(b"a")
    began_ms = shop.broker.now.monotonic_ms
    while shop.state() == "Ongoing":
        wake_at_ms = shop.broker.core.wake_at_ms()
        assert wake_at_ms is not None
        assert wake_at_ms - began_ms <= 1_300, "the transaction is open for too long"
        shop.broker.sleep(max(0, wake_at_ms - shop.broker.now.monotonic_ms))
    assert shop.broker.now.monotonic_ms - began_ms > 1_000
    assert (shop.state(), shop.markers()) == ("CompleteAbort", [False])


def test_a_restart_gives_an_open_transaction_its_whole_timeout_again(shop: Shop, flow: int) -> None:
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    for come_back in (shop.kill, shop.restart):
        shop.broker.sleep(SWEEP_MS)
        shop.broker.sleep(50_000)
        come_back()
    shop.broker.sleep(SWEEP_MS)
    shop.broker.sleep(50_000)
    assert shop.state() == "Ongoing"
    shop.broker.sleep(SWEEP_MS + 1)
    assert shop.state() == "CompleteAbort"


def test_an_idle_id_expires_and_whoever_comes_back_starts_with_a_fresh_producer_id(
    open_shop: OpenShop, flow: int
) -> None:
    """Scenario 42."""
    shop = open_shop(**SHORT_EXPIRY)
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    producer.commit()
    shop.broker.sleep(1_000)
    shop.broker.sleep(4_000)
    assert shop.state() == ("CompleteCommit")
    shop.broker.sleep(1_000)
    for _ in range(2):
        assert shop.described().error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        assert producer.commit().error_code == producer.add(0) == NO_MAPPING
        assert producer.write(b"late", sequence=1).error_code == NO_MAPPING
        shop.kill()
    reply = shop.init(presented=producer.identity)
    assert (reply.error_code, reply.producer_epoch) == (ErrorCode.NONE, 0)
    assert reply.producer_id > producer.identity.producer_id


def test_an_id_with_an_open_transaction_does_not_expire(open_shop: OpenShop) -> None:
    """Scenario 42: only an id with nothing to lose is forgotten."""
    shop = open_shop(**SHORT_EXPIRY)
    producer = shop.producer()
    producer.send(b"a")
    for _ in range(4):
        shop.broker.sleep(5_000)
    assert producer.commit().error_code == ErrorCode.NONE
    assert shop.committed() == [b"a"]


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
def test_idle_time_goes_on_across_a_restart(open_shop: OpenShop, is_killed: bool) -> None:
    """Scenario 42."""
    shop = open_shop(**SHORT_EXPIRY)
    shop.producer()
    shop.broker.sleep(3_000)
    shop.kill() if is_killed else shop.restart()
    shop.broker.sleep(1_500)
    assert shop.state() == "Empty"
    shop.broker.sleep(1_000)
    assert shop.described().error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


@pytest.mark.parametrize("step_ms", [-HOUR_MS, HOUR_MS], ids=["back", "forward"])
def test_a_step_of_the_wall_clock_ends_nothing_early_and_nothing_late(
    open_shop: OpenShop, flow: int, step_ms: int
) -> None:
    """Scenario 49."""
    shop = open_shop(**SHORT_EXPIRY)
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    shop.producer("idle")
    shop.broker.sleep(SWEEP_MS // 10)
    step_wall_clock(shop, step_ms)
    shop.broker.sleep(3_999)
    assert (shop.state(), shop.state("idle")) == ("Ongoing", "Empty")
    shop.broker.sleep(1_001)
    assert shop.described("idle").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert shop.state() == "Ongoing"
    shop.broker.sleep(SWEEP_MS)
    step_wall_clock(shop, -step_ms)
    shop.broker.sleep(60_000)
    assert shop.state() == "Ongoing"
    shop.broker.sleep(SWEEP_MS)
    assert shop.state() == "CompleteAbort"


def test_a_clock_that_stepped_back_while_the_broker_was_down_harms_nothing(open_shop: OpenShop, flow: int) -> None:
    """Scenario 49: stamps in the log are then in the future."""
    shop = open_shop(**SHORT_EXPIRY)
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    shop.producer("idle")
    step_wall_clock(shop, -HOUR_MS)
    shop.kill()
    shop.broker.sleep(4_000)
    assert (shop.state(), shop.state("idle")) == ("Ongoing", "Empty")
    assert producer.commit().error_code == ErrorCode.NONE
    producer.send(b"b")
    producer.commit()
    assert shop.committed() == [b"a", b"b"]
