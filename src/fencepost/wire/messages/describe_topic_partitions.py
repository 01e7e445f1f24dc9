"""DescribeTopicPartitions, API key 75, versions 0 to 0.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    ZERO_UUID,
    Data,
    read_compact_array,
    read_compact_integers,
    read_compact_nullable_integers,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_struct,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_integers,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_struct,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_hiii = Struct(">hiii").unpack_from
_pack_hiii = Struct(">hiii").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class TopicRequest:
    name: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicRequest, int]":
        name, at = read_compact_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicRequest(name), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        out.append(0)


@dataclass(slots=True)
class Cursor:
    topic_name: str = ""
    partition_index: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[Cursor, int]":
        topic_name, at = read_compact_string(data, at)
        partition_index = _read_i(data, at)[0]
        at += 4
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return Cursor(topic_name, partition_index), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.topic_name)
        out += _pack_i(self.partition_index)
        out.append(0)


@dataclass(slots=True)
class DescribeTopicPartitionsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    topics: list[TopicRequest] = field(default_factory=list)
    response_partition_limit: int = 2000
    cursor: Cursor | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeTopicPartitionsRequest, int]":
        topics, at = read_compact_array(data, at, version, TopicRequest.read, 2)
        response_partition_limit = _read_i(data, at)[0]
        at += 4
        cursor, at = read_nullable_struct(data, at, version, Cursor.read)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeTopicPartitionsRequest(topics, response_partition_limit, cursor), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.topics, version)
        out += _pack_i(self.response_partition_limit)
        write_nullable_struct(out, self.cursor, version)
        out.append(0)


@dataclass(slots=True)
class DescribeTopicPartitionsResponsePartition:
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    eligible_leader_replicas: list[int] | None = None
    last_known_elr: list[int] | None = None
    offline_replicas: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeTopicPartitionsResponsePartition, int]":
        error_code, partition_index, leader_id, leader_epoch = _read_hiii(data, at)
        at += 14
        replica_nodes, at = read_compact_integers(data, at, "i", 4)
        isr_nodes, at = read_compact_integers(data, at, "i", 4)
        eligible_leader_replicas, at = read_compact_nullable_integers(data, at, "i", 4)
        last_known_elr, at = read_compact_nullable_integers(data, at, "i", 4)
        offline_replicas, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeTopicPartitionsResponsePartition(
            error_code,
            partition_index,
            leader_id,
            leader_epoch,
            replica_nodes,
            isr_nodes,
            eligible_leader_replicas,
            last_known_elr,
            offline_replicas,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_hiii(self.error_code, self.partition_index, self.leader_id, self.leader_epoch)
        write_compact_integers(out, self.replica_nodes, "i")
        write_compact_integers(out, self.isr_nodes, "i")
        write_compact_nullable_integers(out, self.eligible_leader_replicas, "i")
        write_compact_nullable_integers(out, self.last_known_elr, "i")
        write_compact_integers(out, self.offline_replicas, "i")
        out.append(0)


@dataclass(slots=True)
class DescribeTopicPartitionsResponseTopic:
    error_code: int = 0
    name: str | None = ""
    topic_id: UUID = ZERO_UUID
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeTopicPartitionsResponseTopic, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        name, at = read_compact_nullable_string(data, at)
        topic_id, at = read_uuid(data, at)
        is_internal = _read_o(data, at)[0]
        at += 1
        partitions, at = read_compact_array(data, at, version, DescribeTopicPartitionsResponsePartition.read, 20)
        topic_authorized_operations = _read_i(data, at)[0]
        at += 4
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeTopicPartitionsResponseTopic(
            error_code, name, topic_id, is_internal, partitions, topic_authorized_operations
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        write_compact_nullable_string(out, self.name)
        out += self.topic_id.bytes
        out += _pack_o(self.is_internal)
        write_compact_array(out, self.partitions, version)
        out += _pack_i(self.topic_authorized_operations)
        out.append(0)


@dataclass(slots=True)
class DescribeTopicPartitionsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    topics: list[DescribeTopicPartitionsResponseTopic] = field(default_factory=list)
    next_cursor: Cursor | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeTopicPartitionsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        topics, at = read_compact_array(data, at, version, DescribeTopicPartitionsResponseTopic.read, 26)
        next_cursor, at = read_nullable_struct(data, at, version, Cursor.read)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeTopicPartitionsResponse(throttle_time_ms, topics, next_cursor), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        write_compact_array(out, self.topics, version)
        write_nullable_struct(out, self.next_cursor, version)
        out.append(0)
