"""How long a producer is remembered depends on when it was heard, not on the timestamps in its records."""

import pytest

from fencepost.settings import BrokerSettings
from tests.unit.broker.builders import WALL_MS, Broker, batch_of, produce_request

DAY_MS = BrokerSettings().producer_id_expiration_ms
CHECK_MS = BrokerSettings().producer_id_expiration_check_interval_ms


def send(broker: Broker, identity: tuple[int, int], timestamp_ms: int) -> int:
    batch = batch_of(
        b"x", timestamp_ms=timestamp_ms, producer_id=identity[0], producer_epoch=identity[1], base_sequence=0
    )
    (answer,) = broker.ask(produce_request("events", batch), 9).responses[0].partition_responses
    assert answer.error_code == 0
    base_offset: int = answer.base_offset
    return base_offset


@pytest.mark.parametrize("timestamp_ms", [WALL_MS - 30 * DAY_MS, 0, -1])
def test_a_resent_batch_of_old_records_is_a_duplicate(timestamp_ms: int) -> None:
    broker = Broker()
    broker.create_topic("events", retention_ms="-1")
    identity = broker.init_producer()
    assert send(broker, identity, timestamp_ms) == 0
    for _ in range(3):
        broker.sleep(CHECK_MS + 1)
    assert send(broker, identity, timestamp_ms) == 0


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("timestamp_ms", [WALL_MS - 30 * DAY_MS, WALL_MS, WALL_MS + 1000 * DAY_MS, 2**63 - 1])
def test_a_silent_producer_is_forgotten_whatever_its_clock_said(timestamp_ms: int, restarts: bool) -> None:
    broker = Broker()
    broker.create_topic("events", retention_ms="-1")
    send(broker, broker.init_producer(), timestamp_ms)
    if restarts:
        broker = broker.restarted()
    broker.sleep(CHECK_MS + 1)
    broker.sleep(DAY_MS)
    log = broker.core.log("events", 0)
    assert log is not None
    assert not log.state.producers


def test_a_restart_does_not_make_a_producer_young_again() -> None:
    broker = Broker()
    broker.create_topic("events", retention_ms="-1")
    send(broker, broker.init_producer(), WALL_MS)
    for _ in range(3):
        broker.sleep(DAY_MS // 2)
        broker = broker.restarted()
    broker.sleep(CHECK_MS + 1)
    log = broker.core.log("events", 0)
    assert log is not None
    assert not log.state.producers
