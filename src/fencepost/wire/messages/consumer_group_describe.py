"""ConsumerGroupDescribe, API key 69, versions 0 to 1.

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
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_string,
    write_compact_string,
    write_compact_strings,
)

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ii = Struct(">ii").unpack_from
_pack_ii = Struct(">ii").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class ConsumerGroupDescribeRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupDescribeRequest, int]":
        group_ids, at = read_compact_strings(data, at)
        include_authorized_operations = _read_o(data, at)[0]
        at += 1
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupDescribeRequest(group_ids, include_authorized_operations), at

    def write(self, out: Output, version: int) -> None:
        write_compact_strings(out, self.group_ids)
        out += _pack_o(self.include_authorized_operations)
        out.append(0)


@dataclass(slots=True)
class TopicPartitions:
    topic_id: UUID = ZERO_UUID
    topic_name: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicPartitions, int]":
        topic_id, at = read_uuid(data, at)
        topic_name, at = read_compact_string(data, at)
        partitions, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicPartitions(topic_id, topic_name, partitions), at

    def write(self, out: Output, version: int) -> None:
        out += self.topic_id.bytes
        write_compact_string(out, self.topic_name)
        write_compact_integers(out, self.partitions, "i")
        out.append(0)


@dataclass(slots=True)
class Assignment:
    topic_partitions: list[TopicPartitions] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[Assignment, int]":
        topic_partitions, at = read_compact_array(data, at, version, TopicPartitions.read, 19)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return Assignment(topic_partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.topic_partitions, version)
        out.append(0)


@dataclass(slots=True)
class Member:
    member_id: str = ""
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: int = 0
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = field(default_factory=list)
    subscribed_topic_regex: str | None = None
    assignment: Assignment = field(default_factory=Assignment)
    target_assignment: Assignment = field(default_factory=Assignment)
    member_type: int = -1  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[Member, int]":
        member_id, at = read_compact_string(data, at)
        instance_id, at = read_compact_nullable_string(data, at)
        rack_id, at = read_compact_nullable_string(data, at)
        member_epoch = _read_i(data, at)[0]
        at += 4
        client_id, at = read_compact_string(data, at)
        client_host, at = read_compact_string(data, at)
        subscribed_topic_names, at = read_compact_strings(data, at)
        subscribed_topic_regex, at = read_compact_nullable_string(data, at)
        assignment, at = Assignment.read(data, at, version)
        target_assignment, at = Assignment.read(data, at, version)
        member_type: int = -1
        if version >= 1:
            member_type = _read_b(data, at)[0]
            at += 1
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return Member(
            member_id,
            instance_id,
            rack_id,
            member_epoch,
            client_id,
            client_host,
            subscribed_topic_names,
            subscribed_topic_regex,
            assignment,
            target_assignment,
            member_type,
        ), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.member_id)
        write_compact_nullable_string(out, self.instance_id)
        write_compact_nullable_string(out, self.rack_id)
        out += _pack_i(self.member_epoch)
        write_compact_string(out, self.client_id)
        write_compact_string(out, self.client_host)
        write_compact_strings(out, self.subscribed_topic_names)
        write_compact_nullable_string(out, self.subscribed_topic_regex)
        self.assignment.write(out, version)
        self.target_assignment.write(out, version)
        if version >= 1:
            out += _pack_b(self.member_type)
        out.append(0)


@dataclass(slots=True)
class DescribedGroup:
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ""
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: list[Member] = field(default_factory=list)
    authorized_operations: int = -2147483648

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribedGroup, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = read_compact_nullable_string(data, at)
        group_id, at = read_compact_string(data, at)
        group_state, at = read_compact_string(data, at)
        group_epoch, assignment_epoch = _read_ii(data, at)
        at += 8
        assignor_name, at = read_compact_string(data, at)
        members, at = read_compact_array(data, at, version, Member.read, 16)
        authorized_operations = _read_i(data, at)[0]
        at += 4
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribedGroup(
            error_code,
            error_message,
            group_id,
            group_state,
            group_epoch,
            assignment_epoch,
            assignor_name,
            members,
            authorized_operations,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_string(out, self.group_id)
        write_compact_string(out, self.group_state)
        out += _pack_ii(self.group_epoch, self.assignment_epoch)
        write_compact_string(out, self.assignor_name)
        write_compact_array(out, self.members, version)
        out += _pack_i(self.authorized_operations)
        out.append(0)


@dataclass(slots=True)
class ConsumerGroupDescribeResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    throttle_time_ms: int = 0
    groups: list[DescribedGroup] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerGroupDescribeResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        groups, at = read_compact_array(data, at, version, DescribedGroup.read, 20)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConsumerGroupDescribeResponse(throttle_time_ms, groups), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        write_compact_array(out, self.groups, version)
        out.append(0)
