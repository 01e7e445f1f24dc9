"""DeleteGroups, API key 42, versions 0 to 2.

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
    read_strings,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_string,
    write_compact_strings,
    write_string,
    write_strings,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack


@dataclass(slots=True)
class DeleteGroupsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    groups_names: list[str] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteGroupsRequest, int]":
        groups_names, at = (read_compact_strings if version >= 2 else read_strings)(data, at)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteGroupsRequest(groups_names), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_strings if version >= 2 else write_strings)(out, self.groups_names)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeletableGroupResult:
    group_id: str = ""
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeletableGroupResult, int]":
        group_id, at = (read_compact_string if version >= 2 else read_string)(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeletableGroupResult(group_id, error_code), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.group_id)
        out += _pack_h(self.error_code)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeleteGroupsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    results: list[DeletableGroupResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteGroupsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        results, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DeletableGroupResult.read, 4
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteGroupsResponse(throttle_time_ms, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.results, version)
        if version >= 2:
            out.append(0)
