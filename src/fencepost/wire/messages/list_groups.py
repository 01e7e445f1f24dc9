"""ListGroups, API key 16, versions 0 to 5.

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
    read_compact_string,
    read_compact_strings,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_string,
    write_compact_strings,
    write_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class ListGroupsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    states_filter: list[str] = field(default_factory=list)  # v4+
    types_filter: list[str] = field(default_factory=list)  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListGroupsRequest, int]":
        states_filter: list[str] = []
        if version >= 4:
            states_filter, at = read_compact_strings(data, at)
        types_filter: list[str] = []
        if version >= 5:
            types_filter, at = read_compact_strings(data, at)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListGroupsRequest(states_filter, types_filter), at

    def write(self, out: Output, version: int) -> None:
        if version >= 4:
            write_compact_strings(out, self.states_filter)
        if version >= 5:
            write_compact_strings(out, self.types_filter)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class ListedGroup:
    group_id: str = ""
    protocol_type: str = ""
    group_state: str = ""  # v4+
    group_type: str = ""  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListedGroup, int]":
        group_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        protocol_type, at = (read_compact_string if version >= 3 else read_string)(data, at)
        group_state: str = ""
        if version >= 4:
            group_state, at = read_compact_string(data, at)
        group_type: str = ""
        if version >= 5:
            group_type, at = read_compact_string(data, at)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListedGroup(group_id, protocol_type, group_state, group_type), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.group_id)
        (write_compact_string if version >= 3 else write_string)(out, self.protocol_type)
        if version >= 4:
            write_compact_string(out, self.group_state)
        if version >= 5:
            write_compact_string(out, self.group_type)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class ListGroupsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
    groups: list[ListedGroup] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListGroupsResponse, int]":
        if version >= 1:
            throttle_time_ms, error_code = _read_ih(data, at)
            at += 6
        else:
            throttle_time_ms = 0
            error_code = _read_h(data, at)[0]
            at += 2
        groups, at = (read_compact_array if version >= 3 else read_array)(data, at, version, ListedGroup.read, 3)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListGroupsResponse(throttle_time_ms, error_code, groups), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_ih(self.throttle_time_ms, self.error_code)
        else:
            out += _pack_h(self.error_code)
        (write_compact_array if version >= 3 else write_array)(out, self.groups, version)
        if version >= 3:
            out.append(0)
