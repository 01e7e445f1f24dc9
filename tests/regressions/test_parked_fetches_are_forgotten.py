"""A long poll that was answered is forgotten then, however long it would have waited."""

from tests.unit.broker.builders import Broker, fetch_request

POLLS = 2_000
LONGEST_WAIT_MS = 2**31 - 1


def test_answered_polls_with_a_far_deadline_take_no_memory() -> None:
    broker = Broker()
    broker.create_topic("events")
    patient = broker.send(fetch_request("events", 0, offset=0, max_wait_ms=60_000, min_bytes=1 << 30), 12)
    for offset in range(POLLS):
        poll = broker.send(fetch_request("events", 0, offset=offset, max_wait_ms=LONGEST_WAIT_MS), 12)
        broker.produce("events", b"news")
        assert poll.reply is not None
    assert len(broker.core.parked_fetches) < POLLS // 10
    broker.sleep(60_000)
    assert patient.reply is not None
