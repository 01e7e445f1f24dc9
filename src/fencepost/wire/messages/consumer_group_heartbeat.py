"""ConsumerGroupHeartbeat, API key 68, versions 0 to 1.

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
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_nullable_strings,
    read_compact_string,
    read_nullable_struct,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_array,
    write_compact_nullable_string,
    write_compact_nullable_strings,
    write_compact_string,
    write_nullable_struct,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_ii = Struct(">ii").unpack_from
_pack_ii = Struct(">ii").pack


@dataclass(slots=True)
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicPartitions, int]":
        topic_id, at = read_uuid(data, at)
        partitions, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicPartitions(topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        out += self.topic_id.bytes
        write_compact_integers(out, self.partitions, "i")
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupHeartbeatRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = None  # v1+
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupHeartbeatRequest, int]":
        group_id, at = read_compact_string(data, at)
        member_id, at = read_compact_string(data, at)
        member_epoch = _read_i(data, at)[0]
        at += 4
        instance_id, at = read_compact_nullable_string(data, at)
        rack_id, at = read_compact_nullable_string(data, at)
        rebalance_timeout_ms = _read_i(data, at)[0]
        at += 4
        subscribed_topic_names, at = read_compact_nullable_strings(data, at)
        subscribed_topic_regex: str | None = None
        if version >= 1:
            subscribed_topic_regex, at = read_compact_nullable_string(data, at)
        server_assignor, at = read_compact_nullable_string(data, at)
        topic_partitions, at = read_compact_nullable_array(data, at, version, TopicPartitions.read, 18)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupHeartbeatRequest(
            group_id,
            member_id,
            member_epoch,
            instance_id,
            rack_id,
            rebalance_timeout_ms,
            subscribed_topic_names,
            subscribed_topic_regex,
            server_assignor,
            topic_partitions,
        ), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.group_id)
        write_compact_string(out, self.member_id)
        out += _pack_i(self.member_epoch)
        write_compact_nullable_string(out, self.instance_id)
        write_compact_nullable_string(out, self.rack_id)
        out += _pack_i(self.rebalance_timeout_ms)
        write_compact_nullable_strings(out, self.subscribed_topic_names)
        if version >= 1:
            write_compact_nullable_string(out, self.subscribed_topic_regex)
        write_compact_nullable_string(out, self.server_assignor)
        write_compact_nullable_array(out, self.topic_partitions, version)
        out.append(0)


@dataclass(slots=True)
class Assignment:
    topic_partitions: list[TopicPartitions] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[Assignment, int]":
        topic_partitions, at = read_compact_array(data, at, version, TopicPartitions.read, 18)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return Assignment(topic_partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.topic_partitions, version)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupHeartbeatResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupHeartbeatResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        member_id, at = read_compact_nullable_string(data, at)
        member_epoch, heartbeat_interval_ms = _read_ii(data, at)
        at += 8
        assignment, at = read_nullable_struct(data, at, version, Assignment.read)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupHeartbeatResponse(
            throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, assignment
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_nullable_string(out, self.member_id)
        out += _pack_ii(self.member_epoch, self.heartbeat_interval_ms)
        write_nullable_struct(out, self.assignment, version)
        out.append(0)
