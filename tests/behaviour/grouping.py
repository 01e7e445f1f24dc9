"""Group requests, written by hand."""

from typing import Any

from fencepost.errors import ErrorCode
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.heartbeat import HeartbeatRequest
from fencepost.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.behaviour.peer import Client, Peer

JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT = 7, 5, 4, 4, 8
SESSION_TIMEOUT_MS = 30_000
SUBSCRIPTION = ConsumerProtocolSubscription(topics=["anything"]).to_bytes(0)


def join_request(group: str, **fields: Any) -> JoinGroupRequest:
    said: dict[str, Any] = {
        "session_timeout_ms": SESSION_TIMEOUT_MS,
        "rebalance_timeout_ms": SESSION_TIMEOUT_MS,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol("range", SUBSCRIPTION)],
    }
    return JoinGroupRequest(group_id=group, **(said | fields))


def join(client: Client, group: str, *, version: int = JOIN, **fields: Any) -> Any:
    """The answer to JoinGroup; a new member asks again with the id it is given (KIP-394)."""
    answer = client.put_settled(join_request(group, **fields), version)
    if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        answer = client.put(join_request(group, **(fields | {"member_id": answer.member_id})), version)
    return answer


def sync(client: Client, group: str, member: Any, *, assignment: bytes | None = None, **lies: Any) -> Any:
    """`assignment` is what a leader gives itself; a follower gives nothing."""
    said = {"generation_id": member.generation_id, "member_id": member.member_id} | lies
    given = [] if assignment is None else [SyncGroupRequestAssignment(member.member_id, assignment)]
    request = SyncGroupRequest(
        group_id=group, protocol_type="consumer", protocol_name="range", assignments=given, **said
    )
    return client.put(request, SYNC)


def join_alone(peer: Peer, group: str, **fields: Any) -> Any:
    """The one member of a stable group."""
    member = join(peer.client, group, **fields)
    assert member.error_code == 0, member
    synced = sync(peer.client, group, member, assignment=b"all", group_instance_id=fields.get("group_instance_id"))
    assert (synced.error_code, synced.assignment) == (0, b"all"), synced
    return member


def heartbeat(client: Client, group: str, member_id: str, generation_id: int, **fields: Any) -> int:
    request = HeartbeatRequest(group, generation_id, member_id, **fields)
    return int(client.put(request, HEARTBEAT).error_code)


def leave(client: Client, group: str, member_id: str, **fields: Any) -> Any:
    return client.put(LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id, **fields)]), LEAVE)


def offset_commit(client: Client, group: str, topic: str, offset: int, **fields: Any) -> int:
    """The error code for one partition."""
    version = fields.pop("version", COMMIT)
    partition = fields.pop("partition", 0)
    metadata = fields.pop("metadata", "")
    wanted = OffsetCommitRequestPartition(partition, offset, committed_metadata=metadata)
    request = OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(name=topic, partitions=[wanted])], **fields)
    return int(client.put(request, version).topics[0].partitions[0].error_code)


def commit_offset(peer: Peer, group: str, topic: str, offset: int) -> None:
    assert offset_commit(peer.client, group, topic, offset) == 0
