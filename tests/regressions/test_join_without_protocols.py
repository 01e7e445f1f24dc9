"""A member without protocols may not join a group whose last member has left while others were waited for.

It was let in, and when the wait was over no protocol could be chosen for it: the broker stopped.
"""

from fencepost.errors import ErrorCode
from fencepost.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost.wire.messages.leave_group import LeaveGroupRequest
from tests.unit.broker.builders import Broker

DELAY_MS = 1000


def join(*protocols: str) -> JoinGroupRequest:
    offers = [JoinGroupRequestProtocol(name, b"") for name in protocols]
    return JoinGroupRequest("g", 10_000, 20_000, member_id="", protocol_type="consumer", protocols=offers)


def test_it_is_refused() -> None:
    broker = Broker(group_initial_rebalance_delay_ms=str(DELAY_MS))
    broker.send(join("range"), 3)
    broker.commit()
    (member_id,) = broker.core.state.groups.classic["g"].members
    assert broker.ask(LeaveGroupRequest("g", member_id=member_id), 2).error_code == 0
    assert broker.ask(join(), 3).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    sent = broker.send(join("range"), 3)
    for _ in range(3):
        broker.sleep(DELAY_MS)
    assert sent.reply is not None
    assert sent.reply.error_code == 0
