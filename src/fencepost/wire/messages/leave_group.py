"""LeaveGroup, API key 13, versions 0 to 5.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_array,
    read_compact_array,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class MemberIdentity:
    member_id: str = ""
    group_instance_id: str | None = None
    reason: str | None = None  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MemberIdentity, int]":
        member_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        group_instance_id, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        reason: str | None = None
        if version >= 5:
            reason, at = read_compact_nullable_string(data, at)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MemberIdentity(member_id, group_instance_id, reason), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.member_id)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.group_instance_id)
        if version >= 5:
            write_compact_nullable_string(out, self.reason)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class LeaveGroupRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    group_id: str = ""
    member_id: str = ""  # v0-2
    members: list[MemberIdentity] = field(default_factory=list)  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[LeaveGroupRequest, int]":
        group_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        member_id: str = ""
        if version <= 2:
            member_id, at = read_string(data, at)
        members: list[MemberIdentity] = []
        if version >= 3:
            members, at = (read_compact_array if version >= 4 else read_array)(
                data, at, version, MemberIdentity.read, 3
            )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return LeaveGroupRequest(group_id, member_id, members), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.group_id)
        if version <= 2:
            write_string(out, self.member_id)
        if version >= 3:
            (write_compact_array if version >= 4 else write_array)(out, self.members, version)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class MemberResponse:
    member_id: str = ""
    group_instance_id: str | None = ""
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MemberResponse, int]":
        member_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        group_instance_id, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MemberResponse(member_id, group_instance_id, error_code), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.member_id)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.group_instance_id)
        out += _pack_h(self.error_code)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class LeaveGroupResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
    members: list[MemberResponse] = field(default_factory=list)  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[LeaveGroupResponse, int]":
        if version >= 1:
            throttle_time_ms, error_code = _read_ih(data, at)
            at += 6
        else:
            throttle_time_ms = 0
            error_code = _read_h(data, at)[0]
            at += 2
        members: list[MemberResponse] = []
        if version >= 3:
            members, at = (read_compact_array if version >= 4 else read_array)(
                data, at, version, MemberResponse.read, 5
            )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return LeaveGroupResponse(throttle_time_ms, error_code, members), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_ih(self.throttle_time_ms, self.error_code)
        else:
            out += _pack_h(self.error_code)
        if version >= 3:
            (write_compact_array if version >= 4 else write_array)(out, self.members, version)
        if version >= 4:
            out.append(0)
