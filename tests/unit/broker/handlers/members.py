"""Members of a classic group, as requests: join with whatever id is asked for, sync, beat, leave."""

from typing import Any

from fencepost.errors import ErrorCode
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.heartbeat import HeartbeatRequest
from fencepost.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.unit.broker.builders import Broker, Sent

GROUP = "billing"
SESSION_MS = 10_000


def subscription(*topics: str) -> bytes:
    return ConsumerProtocolSubscription(topics=list(topics)).to_bytes(0)


def join_request(member_id: str = "", *, topics: tuple[str, ...] = ("orders",), **more: Any) -> JoinGroupRequest:
    fields = {
        "group_id": GROUP,
        "session_timeout_ms": SESSION_MS,
        "rebalance_timeout_ms": SESSION_MS,
        "member_id": member_id,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol("range", subscription(*topics))],
    }
    return JoinGroupRequest(**{**fields, **more})


def start_joining(broker: Broker, member_id: str = "", *, version: int = 9, **more: Any) -> Sent:
    """A join that may have to wait. From v4 on the first answer may only hand out the id (KIP-394)."""
    sent = broker.send(join_request(member_id, **more), version)
    broker.commit()
    if sent.reply is not None and sent.reply.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        sent = broker.send(join_request(sent.reply.member_id, **more), version)
        broker.commit()
    return sent


def join(broker: Broker, member_id: str = "", **more: Any) -> Any:
    sent = start_joining(broker, member_id, **more)
    assert sent.reply is not None, "the join waits for others"
    assert sent.reply.error_code == ErrorCode.NONE, sent.reply
    return sent.reply


def sync(broker: Broker, joined: Any, parts: dict[str, bytes] | None = None, *, version: int = 5) -> Sent:
    assignments = [SyncGroupRequestAssignment(member_id, part) for member_id, part in (parts or {}).items()]
    request = SyncGroupRequest(
        GROUP, joined.generation_id, joined.member_id, None, "consumer", "range", assignments=assignments
    )
    sent = broker.send(request, version)
    broker.commit()
    return sent


def beat(broker: Broker, member_id: str, generation_id: int, *, version: int = 4) -> int:
    return int(broker.ask(HeartbeatRequest(GROUP, generation_id, member_id), version).error_code)


def leave(broker: Broker, *member_ids: str, version: int = 5) -> Any:
    if version < 3:
        return broker.ask(LeaveGroupRequest(group_id=GROUP, member_id=member_ids[0]), version)
    return broker.ask(LeaveGroupRequest(group_id=GROUP, members=[MemberIdentity(each) for each in member_ids]), version)
