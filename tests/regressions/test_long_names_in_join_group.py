"""Names that no record of `__consumer_offsets` can hold are refused at the door, not when a timer writes them down."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost.wire.messages.sync_group import SyncGroupRequest
from tests.unit.broker.builders import Broker

LONG = "x" * 40_000


def join(member_id: str = "", **fields: Any) -> JoinGroupRequest:
    return JoinGroupRequest(
        **{
            "group_id": "readers",
            "member_id": member_id,
            "session_timeout_ms": 6_000,
            "rebalance_timeout_ms": 6_000,
            "protocol_type": "consumer",
            "protocols": [JoinGroupRequestProtocol("range", b"topics")],
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("fields", "error_code"),
    [
        ({"group_id": LONG}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "\u00e9" * 20_000}, ErrorCode.INVALID_GROUP_ID),
        ({"protocol_type": LONG}, ErrorCode.INVALID_REQUEST),
        ({"group_instance_id": LONG}, ErrorCode.INVALID_REQUEST),
        ({"protocols": [JoinGroupRequestProtocol(LONG, b"topics")]}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_member_with_a_name_that_cannot_be_stored_is_refused(fields: dict[str, Any], error_code: ErrorCode) -> None:
    broker = Broker()
    reply = broker.ask(join(**fields), 9)
    assert reply.error_code == error_code
    for _ in range(10):
        broker.sleep(2_000)


def test_a_long_client_id_makes_no_member_id_that_cannot_be_stored() -> None:
    broker = Broker()
    client_id = "\u00e9" * 16_383
    member_id = broker.ask(join(), 9, client_id=client_id).member_id
    joined = broker.send(join(member_id), 9, client_id=client_id)
    broker.sleep(3_000)
    assert joined.reply.error_code == 0
    request = SyncGroupRequest("readers", joined.reply.generation_id, member_id, assignments=[])
    assert broker.ask(request, 3).error_code == 0
    assert list(broker.after_kill().core.state.groups.classic["readers"].members) == [member_id]
