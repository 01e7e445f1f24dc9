"""Records as stored: ConsumerGroupMetadataKey to ConsumerGroupRegularExpressionValue.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.types import Buffer
from fencepost.wire.message import Output, VersionedRecord
from fencepost.wire.reading import (
    ZERO_UUID,
    Data,
    check_tag_end,
    read_compact_array,
    read_compact_bytes,
    read_compact_integers,
    read_compact_nullable_integers,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_nullable_struct,
    read_string,
    read_tag,
    read_tag_count,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_bytes,
    write_compact_integers,
    write_compact_nullable_integers,
    write_compact_nullable_string,
    write_compact_string,
    write_compact_strings,
    write_nullable_struct,
    write_string,
    write_tags,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_iib = Struct(">iib").unpack_from
_pack_iib = Struct(">iib").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack
_read_qq = Struct(">qq").unpack_from
_pack_qq = Struct(">qq").pack


@dataclass(slots=True)
class ConsumerGroupMetadataKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 3

    group_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupMetadataKey, int]":
        group_id, at = read_string(data, at)
        return ConsumerGroupMetadataKey(group_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)


@dataclass(slots=True)
class ConsumerGroupMetadataValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    epoch: int = 0
    metadata_hash: int = 0  # v0+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupMetadataValue, int]":
        epoch = _read_i(data, at)[0]
        at += 4
        metadata_hash: int = 0
        if data[at] == 0:
            at += 1
        else:
            count, at = read_tag_count(data, at)
            for _ in range(count):
                tag, at, end = read_tag(data, at)
                if tag == 0:
                    metadata_hash = _read_q(data, at)[0]
                    at += 8
                else:
                    at = end
                check_tag_end(tag, at, end)
        return ConsumerGroupMetadataValue(epoch, metadata_hash), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.epoch)
        tags: list[tuple[int, Buffer]] = []
        if self.metadata_hash:
            tags.append((0, _pack_q(self.metadata_hash)))
        if tags:
            write_tags(out, tags)
        else:
            out.append(0)


@dataclass(slots=True)
class ConsumerGroupPartitionMetadataKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 4

    group_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupPartitionMetadataKey, int]":
        group_id, at = read_string(data, at)
        return ConsumerGroupPartitionMetadataKey(group_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)


@dataclass(slots=True)
class PartitionMetadata:
    partition: int = 0
    racks: list[str] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionMetadata, int]":
        partition = _read_i(data, at)[0]
        at += 4
        racks, at = read_compact_strings(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PartitionMetadata(partition, racks), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.partition)
        write_compact_strings(out, self.racks)
        out.append(0)


@dataclass(slots=True)
class TopicMetadata:
    topic_id: UUID = ZERO_UUID
    topic_name: str = ""
    num_partitions: int = 0
    partition_metadata: list[PartitionMetadata] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicMetadata, int]":
        topic_id, at = read_uuid(data, at)
        topic_name, at = read_compact_string(data, at)
        num_partitions = _read_i(data, at)[0]
        at += 4
        partition_metadata, at = read_compact_array(data, at, version, PartitionMetadata.read, 6)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicMetadata(topic_id, topic_name, num_partitions, partition_metadata), at

    def write(self, out: Output, version: int) -> None:
        out += self.topic_id.bytes
        write_compact_string(out, self.topic_name)
        out += _pack_i(self.num_partitions)
        write_compact_array(out, self.partition_metadata, version)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupPartitionMetadataValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    topics: list[TopicMetadata] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupPartitionMetadataValue, int]":
        topics, at = read_compact_array(data, at, version, TopicMetadata.read, 23)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupPartitionMetadataValue(topics), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupMemberMetadataKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 5
    MAX_VERSION: ClassVar[int] = 5

    group_id: str = ""
    member_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupMemberMetadataKey, int]":
        group_id, at = read_string(data, at)
        member_id, at = read_string(data, at)
        return ConsumerGroupMemberMetadataKey(group_id, member_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)
        write_string(out, self.member_id)


@dataclass(slots=True)
class ClassicProtocol:
    name: str = ""
    metadata: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ClassicProtocol, int]":
        name, at = read_compact_string(data, at)
        metadata, at = read_compact_bytes(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ClassicProtocol(name, metadata), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_bytes(out, self.metadata)
        out.append(0)


@dataclass(slots=True)
class ClassicMemberMetadata:
    session_timeout_ms: int = 0
    supported_protocols: list[ClassicProtocol] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ClassicMemberMetadata, int]":
        session_timeout_ms = _read_i(data, at)[0]
        at += 4
        supported_protocols, at = read_compact_array(data, at, version, ClassicProtocol.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ClassicMemberMetadata(session_timeout_ms, supported_protocols), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.session_timeout_ms)
        write_compact_array(out, self.supported_protocols, version)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupMemberMetadataValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    instance_id: str | None = ""
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = field(default_factory=list)
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = ""
    classic_member_metadata: ClassicMemberMetadata | None = None  # v0+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupMemberMetadataValue, int]":
        instance_id, at = read_compact_nullable_string(data, at)
        rack_id, at = read_compact_nullable_string(data, at)
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        subscribed_topic_names, at = read_compact_strings(data, at)
        subscribed_topic_regex, at = read_compact_nullable_string(data, at)
        rebalance_timeout_ms = _read_i(data, at)[0]
        at += 4
        server_assignor, at = read_compact_nullable_string(data, at)
        classic_member_metadata: ClassicMemberMetadata | None = None
        if data[at] == 0:
            at += 1
        else:
            count, at = read_tag_count(data, at)
            for _ in range(count):
                tag, at, end = read_tag(data, at)
                if tag == 0:
                    classic_member_metadata, at = read_nullable_struct(data, at, version, ClassicMemberMetadata.read)
                else:
                    at = end
                check_tag_end(tag, at, end)
        return ConsumerGroupMemberMetadataValue(
            instance_id,
            rack_id,
            client_id,
            client_host,
            subscribed_topic_names,
            subscribed_topic_regex,
            rebalance_timeout_ms,
            server_assignor,
            classic_member_metadata,
        ), at

    def write(self, out: Output, version: int) -> None:
        write_compact_nullable_string(out, self.instance_id)
        write_compact_nullable_string(out, self.rack_id)
        write_compact_string(out, self.client_id)
        write_compact_string(out, self.client_host)
        write_compact_strings(out, self.subscribed_topic_names)
        write_compact_nullable_string(out, self.subscribed_topic_regex)
        out += _pack_i(self.rebalance_timeout_ms)
        write_compact_nullable_string(out, self.server_assignor)
        tags: list[tuple[int, Buffer]] = []
        if self.classic_member_metadata is not None:
            value = Output()
            write_nullable_struct(value, self.classic_member_metadata, version)
            tags.append((0, value))
        if tags:
            write_tags(out, tags)
        else:
            out.append(0)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMetadataKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 6
    MAX_VERSION: ClassVar[int] = 6

    group_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupTargetAssignmentMetadataKey, int]":
        group_id, at = read_string(data, at)
        return ConsumerGroupTargetAssignmentMetadataKey(group_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMetadataValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    assignment_epoch: int = 0
    assignment_timestamp: int = 0  # v0+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupTargetAssignmentMetadataValue, int]":
        assignment_epoch = _read_i(data, at)[0]
        at += 4
        assignment_timestamp: int = 0
        if data[at] == 0:
            at += 1
        else:
            count, at = read_tag_count(data, at)
            for _ in range(count):
                tag, at, end = read_tag(data, at)
                if tag == 0:
                    assignment_timestamp = _read_q(data, at)[0]
                    at += 8
                else:
                    at = end
                check_tag_end(tag, at, end)
        return ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.assignment_epoch)
        tags: list[tuple[int, Buffer]] = []
        if self.assignment_timestamp:
            tags.append((0, _pack_q(self.assignment_timestamp)))
        if tags:
            write_tags(out, tags)
        else:
            out.append(0)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMemberKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 7
    MAX_VERSION: ClassVar[int] = 7

    group_id: str = ""
    member_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupTargetAssignmentMemberKey, int]":
        group_id, at = read_string(data, at)
        member_id, at = read_string(data, at)
        return ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)
        write_string(out, self.member_id)


@dataclass(slots=True)
class TopicPartition:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicPartition, int]":
        topic_id, at = read_uuid(data, at)
        partitions, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicPartition(topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        out += self.topic_id.bytes
        write_compact_integers(out, self.partitions, "i")
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupTargetAssignmentMemberValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    topic_partitions: list[TopicPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupTargetAssignmentMemberValue, int]":
        topic_partitions, at = read_compact_array(data, at, version, TopicPartition.read, 18)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupTargetAssignmentMemberValue(topic_partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.topic_partitions, version)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupCurrentMemberAssignmentKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 8
    MAX_VERSION: ClassVar[int] = 8

    group_id: str = ""
    member_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupCurrentMemberAssignmentKey, int]":
        group_id, at = read_string(data, at)
        member_id, at = read_string(data, at)
        return ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)
        write_string(out, self.member_id)


@dataclass(slots=True)
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)
    assignment_epochs: list[int] | None = None  # v0+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicPartitions, int]":
        topic_id, at = read_uuid(data, at)
        partitions, at = read_compact_integers(data, at, "i", 4)
        assignment_epochs: list[int] | None = None
        if data[at] == 0:
            at += 1
        else:
            count, at = read_tag_count(data, at)
            for _ in range(count):
                tag, at, end = read_tag(data, at)
                if tag == 0:
                    assignment_epochs, at = read_compact_nullable_integers(data, at, "i", 4)
                else:
                    at = end
                check_tag_end(tag, at, end)
        return TopicPartitions(topic_id, partitions, assignment_epochs), at

    def write(self, out: Output, version: int) -> None:
        out += self.topic_id.bytes
        write_compact_integers(out, self.partitions, "i")
        tags: list[tuple[int, Buffer]] = []
        if self.assignment_epochs is not None:
            value = Output()
            write_compact_nullable_integers(value, self.assignment_epochs, "i")
            tags.append((0, value))
        if tags:
            write_tags(out, tags)
        else:
            out.append(0)


@dataclass(slots=True)
class ConsumerGroupCurrentMemberAssignmentValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[TopicPartitions] = field(default_factory=list)
    partitions_pending_revocation: list[TopicPartitions] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupCurrentMemberAssignmentValue, int]":
        member_epoch, previous_member_epoch, state = _read_iib(data, at)
        at += 9
        assigned_partitions, at = read_compact_array(data, at, version, TopicPartitions.read, 18)
        partitions_pending_revocation, at = read_compact_array(data, at, version, TopicPartitions.read, 18)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iib(self.member_epoch, self.previous_member_epoch, self.state)
        write_compact_array(out, self.assigned_partitions, version)
        write_compact_array(out, self.partitions_pending_revocation, version)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupRegularExpressionKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 16
    MAX_VERSION: ClassVar[int] = 16

    group_id: str = ""
    regular_expression: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupRegularExpressionKey, int]":
        group_id, at = read_string(data, at)
        regular_expression, at = read_string(data, at)
        return ConsumerGroupRegularExpressionKey(group_id, regular_expression), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)
        write_string(out, self.regular_expression)


@dataclass(slots=True)
class ConsumerGroupRegularExpressionValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    topics: list[str] = field(default_factory=list)
    version: int = 0
    timestamp: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupRegularExpressionValue, int]":
        topics, at = read_compact_strings(data, at)
        version_, timestamp = _read_qq(data, at)
        at += 16
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupRegularExpressionValue(topics, version_, timestamp), at

    def write(self, out: Output, version: int) -> None:
        write_compact_strings(out, self.topics)
        out += _pack_qq(self.version, self.timestamp)
        out.append(0)
