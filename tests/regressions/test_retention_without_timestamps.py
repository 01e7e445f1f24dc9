"""Records without a timestamp have no age: time-based retention drops them only together with later ones that do."""

from fencepost.settings import BrokerSettings
from fencepost.types import NO_TIMESTAMP
from tests.unit.broker.builders import WALL_MS, Broker, batch_of, produce_request

WEEK_MS = BrokerSettings().log_retention_ms
ROUND_MS = BrokerSettings().log_retention_check_interval_ms


def produce(broker: Broker, timestamp_ms: int) -> None:
    (answer,) = (
        broker.ask(produce_request("events", batch_of(b"x", timestamp_ms=timestamp_ms)), 9)
        .responses[0]
        .partition_responses
    )
    assert answer.error_code == 0


def start_offset(broker: Broker) -> int:
    for _ in range(3):
        broker.sleep(ROUND_MS)
    log = broker.core.log("events", 0)
    assert log is not None
    return log.state.log_start_offset


def test_records_without_a_timestamp_are_not_dropped_as_if_they_were_old() -> None:
    broker = Broker()
    broker.create_topic("events")
    produce(broker, NO_TIMESTAMP)
    produce(broker, NO_TIMESTAMP)
    assert start_offset(broker) == 0
    assert broker.values("events") == [b"x", b"x"]


def test_they_go_with_an_old_batch_behind_them_and_stay_with_a_young_one() -> None:
    broker = Broker()
    broker.create_topic("events")
    for timestamp_ms in (NO_TIMESTAMP, WALL_MS - 2 * WEEK_MS, NO_TIMESTAMP, WALL_MS, NO_TIMESTAMP):
        produce(broker, timestamp_ms)
    assert start_offset(broker) == 2
