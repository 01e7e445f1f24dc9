"""JoinGroup, API key 11, versions 0 to 9.

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
    read_nullable_string,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_bytes,
    write_compact_array,
    write_compact_bytes,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_read_hi = Struct(">hi").unpack_from
_pack_hi = Struct(">hi").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ihi = Struct(">ihi").unpack_from
_pack_ihi = Struct(">ihi").pack
_read_ii = Struct(">ii").unpack_from
_pack_ii = Struct(">ii").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class JoinGroupRequestProtocol:
    name: str = ""
    metadata: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[JoinGroupRequestProtocol, int]":
        name, at = (read_compact_string if version >= 6 else read_string)(data, at)
        metadata, at = (read_compact_bytes if version >= 6 else read_bytes)(data, at)
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return JoinGroupRequestProtocol(name, metadata), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.name)
        (write_compact_bytes if version >= 6 else write_bytes)(out, self.metadata)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class JoinGroupRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9

    group_id: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1  # v1+
    member_id: str = ""
    group_instance_id: str | None = None  # v5+
    protocol_type: str = ""
    protocols: list[JoinGroupRequestProtocol] = field(default_factory=list)
    reason: str | None = None  # v8+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[JoinGroupRequest, int]":
        group_id, at = (read_compact_string if version >= 6 else read_string)(data, at)
        if version >= 1:
            session_timeout_ms, rebalance_timeout_ms = _read_ii(data, at)
            at += 8
        else:
            session_timeout_ms = _read_i(data, at)[0]
            at += 4
            rebalance_timeout_ms = -1
        member_id, at = (read_compact_string if version >= 6 else read_string)(data, at)
        group_instance_id: str | None = None
        if version >= 5:
            group_instance_id, at = (read_compact_nullable_string if version >= 6 else read_nullable_string)(data, at)
        protocol_type, at = (read_compact_string if version >= 6 else read_string)(data, at)
        protocols, at = (read_compact_array if version >= 6 else read_array)(
            data, at, version, JoinGroupRequestProtocol.read, 3
        )
        reason: str | None = None
        if version >= 8:
            reason, at = read_compact_nullable_string(data, at)
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return JoinGroupRequest(
            group_id,
            session_timeout_ms,
            rebalance_timeout_ms,
            member_id,
            group_instance_id,
            protocol_type,
            protocols,
            reason,
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.group_id)
        if version >= 1:
            out += _pack_ii(self.session_timeout_ms, self.rebalance_timeout_ms)
        else:
            out += _pack_i(self.session_timeout_ms)
        (write_compact_string if version >= 6 else write_string)(out, self.member_id)
        if version >= 5:
            (write_compact_nullable_string if version >= 6 else write_nullable_string)(out, self.group_instance_id)
        (write_compact_string if version >= 6 else write_string)(out, self.protocol_type)
        (write_compact_array if version >= 6 else write_array)(out, self.protocols, version)
        if version >= 8:
            write_compact_nullable_string(out, self.reason)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class JoinGroupResponseMember:
    member_id: str = ""
    group_instance_id: str | None = None  # v5+
    metadata: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[JoinGroupResponseMember, int]":
        member_id, at = (read_compact_string if version >= 6 else read_string)(data, at)
        group_instance_id: str | None = None
        if version >= 5:
            group_instance_id, at = (read_compact_nullable_string if version >= 6 else read_nullable_string)(data, at)
        metadata, at = (read_compact_bytes if version >= 6 else read_bytes)(data, at)
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return JoinGroupResponseMember(member_id, group_instance_id, metadata), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.member_id)
        if version >= 5:
            (write_compact_nullable_string if version >= 6 else write_nullable_string)(out, self.group_instance_id)
        (write_compact_bytes if version >= 6 else write_bytes)(out, self.metadata)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class JoinGroupResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9

    throttle_time_ms: int = 0  # v2+
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None  # v7+
    protocol_name: str | None = ""
    leader: str = ""
    skip_assignment: bool = False  # v9+
    member_id: str = ""
    members: list[JoinGroupResponseMember] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[JoinGroupResponse, int]":
        if version >= 2:
            throttle_time_ms, error_code, generation_id = _read_ihi(data, at)
            at += 10
        else:
            throttle_time_ms = 0
            error_code, generation_id = _read_hi(data, at)
            at += 6
        protocol_type: str | None = None
        if version >= 7:
            protocol_type, at = read_compact_nullable_string(data, at)
        protocol_name, at = (
            read_compact_nullable_string if version >= 7 else read_compact_string if version >= 6 else read_string
        )(data, at)
        leader, at = (read_compact_string if version >= 6 else read_string)(data, at)
        skip_assignment: bool = False
        if version >= 9:
            skip_assignment = _read_o(data, at)[0]
            at += 1
        member_id, at = (read_compact_string if version >= 6 else read_string)(data, at)
        members, at = (read_compact_array if version >= 6 else read_array)(
            data, at, version, JoinGroupResponseMember.read, 4
        )
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return JoinGroupResponse(
            throttle_time_ms,
            error_code,
            generation_id,
            protocol_type,
            protocol_name,
            leader,
            skip_assignment,
            member_id,
            members,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 2:
            out += _pack_ihi(self.throttle_time_ms, self.error_code, self.generation_id)
        else:
            out += _pack_hi(self.error_code, self.generation_id)
        if version >= 7:
            write_compact_nullable_string(out, self.protocol_type)
        (write_compact_nullable_string if version >= 7 else write_compact_string if version >= 6 else write_string)(
            out, self.protocol_name
        )
        (write_compact_string if version >= 6 else write_string)(out, self.leader)
        if version >= 9:
            out += _pack_o(self.skip_assignment)
        (write_compact_string if version >= 6 else write_string)(out, self.member_id)
        (write_compact_array if version >= 6 else write_array)(out, self.members, version)
        if version >= 6:
            out.append(0)
