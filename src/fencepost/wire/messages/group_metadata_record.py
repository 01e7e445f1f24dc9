"""Records as stored: GroupMetadataKey to GroupMetadataValue.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Output, VersionedRecord
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

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ii = Struct(">ii").unpack_from
_pack_ii = Struct(">ii").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack


@dataclass(slots=True)
class GroupMetadataKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 2

    group: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[GroupMetadataKey, int]":
        group, at = read_string(data, at)
        return GroupMetadataKey(group), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group)


@dataclass(slots=True)
class MemberMetadata:
    member_id: str = ""
    group_instance_id: str | None = None  # v3+
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout: int = -1  # v1+
    session_timeout: int = 0
    subscription: bytes = b""
    assignment: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MemberMetadata, int]":
        member_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        group_instance_id: str | None = None
        if version >= 3:
            group_instance_id, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        client_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        client_host, at = (read_compact_string if version >= 4 else read_string)(data, at)
        if version >= 1:
            rebalance_timeout, session_timeout = _read_ii(data, at)
            at += 8
        else:
            rebalance_timeout = -1
            session_timeout = _read_i(data, at)[0]
            at += 4
        subscription, at = (read_compact_bytes if version >= 4 else read_bytes)(data, at)
        assignment, at = (read_compact_bytes if version >= 4 else read_bytes)(data, at)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MemberMetadata(
            member_id,
            group_instance_id,
            client_id,
            client_host,
            rebalance_timeout,
            session_timeout,
            subscription,
            assignment,
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.member_id)
        if version >= 3:
            (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.group_instance_id)
        (write_compact_string if version >= 4 else write_string)(out, self.client_id)
        (write_compact_string if version >= 4 else write_string)(out, self.client_host)
        if version >= 1:
            out += _pack_ii(self.rebalance_timeout, self.session_timeout)
        else:
            out += _pack_i(self.session_timeout)
        (write_compact_bytes if version >= 4 else write_bytes)(out, self.subscription)
        (write_compact_bytes if version >= 4 else write_bytes)(out, self.assignment)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class GroupMetadataValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    protocol_type: str = ""
    generation: int = 0
    protocol: str | None = ""
    leader: str | None = ""
    current_state_timestamp: int = -1  # v2+
    members: list[MemberMetadata] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[GroupMetadataValue, int]":
        protocol_type, at = (read_compact_string if version >= 4 else read_string)(data, at)
        generation = _read_i(data, at)[0]
        at += 4
        protocol, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        leader, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        current_state_timestamp: int = -1
        if version >= 2:
            current_state_timestamp = _read_q(data, at)[0]
            at += 8
        members, at = (read_compact_array if version >= 4 else read_array)(data, at, version, MemberMetadata.read, 15)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.protocol_type)
        out += _pack_i(self.generation)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.protocol)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.leader)
        if version >= 2:
            out += _pack_q(self.current_state_timestamp)
        (write_compact_array if version >= 4 else write_array)(out, self.members, version)
        if version >= 4:
            out.append(0)
