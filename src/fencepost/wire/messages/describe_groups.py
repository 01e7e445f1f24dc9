"""DescribeGroups, API key 15, versions 0 to 6.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_array,
    read_bytes,
    read_compact_array,
    read_compact_bytes,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_nullable_string,
    read_string,
    read_strings,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_bytes,
    write_compact_array,
    write_compact_bytes,
    write_compact_nullable_string,
    write_compact_string,
    write_compact_strings,
    write_nullable_string,
    write_string,
    write_strings,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class DescribeGroupsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6

    groups: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeGroupsRequest, int]":
        groups, at = (read_compact_strings if version >= 5 else read_strings)(data, at)
        include_authorized_operations: bool = False
        if version >= 3:
            include_authorized_operations = _read_o(data, at)[0]
            at += 1
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeGroupsRequest(groups, include_authorized_operations), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_strings if version >= 5 else write_strings)(out, self.groups)
        if version >= 3:
            out += _pack_o(self.include_authorized_operations)
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class DescribedGroupMember:
    member_id: str = ""
    group_instance_id: str | None = None  # v4+
    client_id: str = ""
    client_host: str = ""
    member_metadata: bytes = b""
    member_assignment: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribedGroupMember, int]":
        member_id, at = (read_compact_string if version >= 5 else read_string)(data, at)
        group_instance_id: str | None = None
        if version >= 4:
            group_instance_id, at = (read_compact_nullable_string if version >= 5 else read_nullable_string)(data, at)
        client_id, at = (read_compact_string if version >= 5 else read_string)(data, at)
        client_host, at = (read_compact_string if version >= 5 else read_string)(data, at)
        member_metadata, at = (read_compact_bytes if version >= 5 else read_bytes)(data, at)
        member_assignment, at = (read_compact_bytes if version >= 5 else read_bytes)(data, at)
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribedGroupMember(
            member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 5 else write_string)(out, self.member_id)
        if version >= 4:
            (write_compact_nullable_string if version >= 5 else write_nullable_string)(out, self.group_instance_id)
        (write_compact_string if version >= 5 else write_string)(out, self.client_id)
        (write_compact_string if version >= 5 else write_string)(out, self.client_host)
        (write_compact_bytes if version >= 5 else write_bytes)(out, self.member_metadata)
        (write_compact_bytes if version >= 5 else write_bytes)(out, self.member_assignment)
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class DescribedGroup:
    error_code: int = 0
    error_message: str | None = None  # v6+
    group_id: str = ""
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: list[DescribedGroupMember] = field(default_factory=list)
    authorized_operations: int = -2147483648  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribedGroup, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        error_message: str | None = None
        if version >= 6:
            error_message, at = read_compact_nullable_string(data, at)
        group_id, at = (read_compact_string if version >= 5 else read_string)(data, at)
        group_state, at = (read_compact_string if version >= 5 else read_string)(data, at)
        protocol_type, at = (read_compact_string if version >= 5 else read_string)(data, at)
        protocol_data, at = (read_compact_string if version >= 5 else read_string)(data, at)
        members, at = (read_compact_array if version >= 5 else read_array)(
            data, at, version, DescribedGroupMember.read, 7
        )
        authorized_operations: int = -2147483648
        if version >= 3:
            authorized_operations = _read_i(data, at)[0]
            at += 4
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribedGroup(
            error_code,
            error_message,
            group_id,
            group_state,
            protocol_type,
            protocol_data,
            members,
            authorized_operations,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        if version >= 6:
            write_compact_nullable_string(out, self.error_message)
        (write_compact_string if version >= 5 else write_string)(out, self.group_id)
        (write_compact_string if version >= 5 else write_string)(out, self.group_state)
        (write_compact_string if version >= 5 else write_string)(out, self.protocol_type)
        (write_compact_string if version >= 5 else write_string)(out, self.protocol_data)
        (write_compact_array if version >= 5 else write_array)(out, self.members, version)
        if version >= 3:
            out += _pack_i(self.authorized_operations)
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class DescribeGroupsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6

    throttle_time_ms: int = 0  # v1+
    groups: list[DescribedGroup] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeGroupsResponse, int]":
        throttle_time_ms: int = 0
        if version >= 1:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        groups, at = (read_compact_array if version >= 5 else read_array)(data, at, version, DescribedGroup.read, 12)
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeGroupsResponse(throttle_time_ms, groups), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 5 else write_array)(out, self.groups, version)
        if version >= 5:
            out.append(0)
