"""A member's session ends while the disk is full: the broker goes on, and takes the member out when there is room."""

from fencepost.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from tests.unit.broker.builders import Broker
from tests.unit.broker.cleaning_driver import SEGMENT_BYTES, small_broker

JOIN = JoinGroupRequest(
    group_id="readers",
    session_timeout_ms=6_000,
    rebalance_timeout_ms=6_000,
    protocol_type="consumer",
    protocols=[JoinGroupRequestProtocol("range", b"topics")],
)


def fill(broker: Broker) -> None:
    broker.disk.capacity_bytes = 0
    size_bytes = SEGMENT_BYTES // 2
    while size_bytes >= 1:
        if broker.produce("events", b"-" * size_bytes).error_code:
            size_bytes //= 2


def test_a_session_that_ends_while_the_disk_is_full_ends_when_there_is_room_again() -> None:
    broker = small_broker()
    broker.create_topic("events")
    joined = broker.send(JOIN, 3)
    broker.sleep(3_000)
    assert joined.reply is not None
    fill(broker)
    for _ in range(10):
        broker.sleep(3_000)
    group = broker.core.state.groups.classic["readers"]
    assert len(group.members) == 1
    broker.sleep(0)
    wake_at_ms = broker.core.state.groups.wake_at_ms
    assert wake_at_ms is not None
    assert wake_at_ms > broker.now.monotonic_ms, "the broker does not try again and again without a pause"
    broker.disk.capacity_bytes = None
    broker.sleep(3_000)
    assert not broker.core.state.groups.classic["readers"].members
