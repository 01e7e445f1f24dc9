"""What members ask of the coordinator, as plain values: the fields of Kafka's requests, under the same names.

`api_version` is there where Kafka's rules depend on it. Topics come with their names resolved; a topic id travels
along when the client sent one.
"""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TOPIC_ID

NO_GENERATION_ID = -1
NO_MEMBER_ID = ""


class Protocol(NamedTuple):
    """One assignor that a member offers. What is in `metadata` is between the members."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroup:
    group_id: str
    member_id: str = NO_MEMBER_ID
    group_instance_id: str | None = None
    session_timeout_ms: int
    rebalance_timeout_ms: int = -1
    protocol_type: str
    protocols: tuple[Protocol, ...]
    client_id: str = ""
    client_host: str = ""
    api_version: int = 9


class SyncGroupAssignment(NamedTuple):
    member_id: str
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroup:
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: tuple[SyncGroupAssignment, ...] = ()
    api_version: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None


class MemberIdentity(NamedTuple):
    member_id: str
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroup:
    """Versions 0 to 2 name one member: give it as the only one of `members`."""

    group_id: str
    members: tuple[MemberIdentity, ...]


class OffsetCommitPartition(NamedTuple):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ""


class OffsetCommitTopic(NamedTuple):
    name: str
    partitions: tuple[OffsetCommitPartition, ...]
    topic_id: UUID = NO_TOPIC_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommit:
    group_id: str
    generation_id_or_member_epoch: int = NO_GENERATION_ID
    member_id: str = NO_MEMBER_ID
    group_instance_id: str | None = None
    retention_time_ms: int = -1
    topics: tuple[OffsetCommitTopic, ...]
    api_version: int = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnOffsetCommit:
    group_id: str
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    generation_id: int = NO_GENERATION_ID
    member_id: str = NO_MEMBER_ID
    group_instance_id: str | None = None
    topics: tuple[OffsetCommitTopic, ...]
    api_version: int = 5


class OffsetFetchTopic(NamedTuple):
    name: str
    partition_indexes: tuple[int, ...]
    topic_id: UUID = NO_TOPIC_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetch:
    """One group of an OffsetFetch request. `topics` None asks for every topic of the group."""

    group_id: str
    member_id: str | None = None
    member_epoch: int = -1
    topics: tuple[OffsetFetchTopic, ...] | None = None
    require_stable: bool = False


class OffsetDeleteTopic(NamedTuple):
    name: str
    partition_indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDelete:
    group_id: str
    topics: tuple[OffsetDeleteTopic, ...]


class OwnedPartitions(NamedTuple):
    topic_id: UUID
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeat:
    """None means "as before". `member_epoch`: 0 joins, -1 leaves, -2 leaves for a while (static members)."""

    group_id: str
    member_id: str = NO_MEMBER_ID
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: tuple[OwnedPartitions, ...] | None = None
    client_id: str = ""
    client_host: str = ""
    api_version: int = 1
