"""What the broker does by the clock goes on, later, when the disk was full for a while."""

import pytest

from fencepost.partition.visibility import last_stable_offset
from tests.unit.broker.builders import Broker
from tests.unit.broker.cleaning_driver import SEGMENT_BYTES, small_broker


@pytest.fixture
def full() -> Broker:
    """With a transaction open and no room for its end."""
    broker = small_broker()
    broker.create_topic("events")
    identity = broker.init_producer("shop-0", timeout_ms=60_000)
    broker.produce_in_transaction("events", b"open", identity=identity, transactional_id="shop-0")
    broker.disk.capacity_bytes = 0
    size_bytes = SEGMENT_BYTES // 2
    while size_bytes >= 1:
        if broker.produce("events", b"-" * size_bytes).error_code:
            size_bytes //= 2
    return broker


def test_a_timed_out_transaction_is_aborted_when_there_is_room_again(
    full: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    log = full.core.log("events", 0)
    assert log is not None
    for _ in range(3):
        full.sleep(61_000)
    assert last_stable_offset(log.state) == 0
    assert "put off" in caplog.text
    full.disk.capacity_bytes = None
    full.sleep(61_000)
    assert last_stable_offset(log.state) == log.state.end_offset


def test_a_broker_without_room_for_a_checkpoint_stops_cleanly_all_the_same(full: Broker) -> None:
    values = full.values("events")
    full.core.close()
    full.disk.capacity_bytes = None
    again = small_broker(disk=full.disk, now=full.now)
    assert again.values("events") == values
