"""What the coordinator answers, as plain values: the fields of Kafka's responses, under the same names.

Turning them into bytes of some version is the handlers' part, for example "" for a null `protocol_name` before
JoinGroup version 7, or the only member's error as the error of a LeaveGroup before version 3.
"""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.types import NO_OFFSET, NO_TOPIC_ID

AUTHORIZED_OPERATIONS_NOT_ASKED = -(2**31)


class JoinGroupMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupReply:
    error_code: ErrorCode = ErrorCode.NONE
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = ""
    members: tuple[JoinGroupMember, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupReply:
    error_code: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    error_code: ErrorCode = ErrorCode.NONE


class LeaveGroupMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupReply:
    error_code: ErrorCode = ErrorCode.NONE
    members: tuple[LeaveGroupMember, ...] = ()


class PartitionError(NamedTuple):
    partition_index: int
    error_code: ErrorCode = ErrorCode.NONE


class TopicErrors(NamedTuple):
    name: str
    partitions: tuple[PartitionError, ...]
    topic_id: UUID = NO_TOPIC_ID


@dataclass(frozen=True, slots=True)
class OffsetCommitReply:
    """For OffsetCommit and TxnOffsetCommit."""

    topics: tuple[TopicErrors, ...]


class OffsetFetchPartition(NamedTuple):
    partition_index: int
    committed_offset: int = NO_OFFSET
    committed_leader_epoch: int = -1
    metadata: str = ""
    error_code: ErrorCode = ErrorCode.NONE


class OffsetFetchReplyTopic(NamedTuple):
    name: str
    partitions: tuple[OffsetFetchPartition, ...]
    topic_id: UUID = NO_TOPIC_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchReply:
    """One group of an OffsetFetch response."""

    group_id: str
    topics: tuple[OffsetFetchReplyTopic, ...] = ()
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteReply:
    error_code: ErrorCode = ErrorCode.NONE
    topics: tuple[TopicErrors, ...] = ()


class ListedGroup(NamedTuple):
    group_id: str
    protocol_type: str
    group_state: str
    group_type: str


class DescribedMember(NamedTuple):
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedGroup:
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    group_id: str
    group_state: str = "Dead"
    protocol_type: str = ""
    protocol_data: str = ""
    members: tuple[DescribedMember, ...] = ()
    authorized_operations: int = AUTHORIZED_OPERATIONS_NOT_ASKED


@dataclass(frozen=True, slots=True)
class DeletedGroup:
    group_id: str
    error_code: ErrorCode = ErrorCode.NONE


class AssignedTopic(NamedTuple):
    topic_id: UUID
    partitions: tuple[int, ...]
    topic_name: str = ""


class Assignment(NamedTuple):
    topic_partitions: tuple[AssignedTopic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeatReply:
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribedMember:
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    assignment: Assignment
    target_assignment: Assignment
    member_type: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribedGroup:
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    group_id: str
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: tuple[ConsumerGroupDescribedMember, ...] = ()
    authorized_operations: int = AUTHORIZED_OPERATIONS_NOT_ASKED
