"""Heartbeat, API key 12, versions 0 to 4.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class HeartbeatRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[HeartbeatRequest, int]":
        group_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        generation_id = _read_i(data, at)[0]
        at += 4
        member_id, at = (read_compact_string if version >= 4 else read_string)(data, at)
        group_instance_id: str | None = None
        if version >= 3:
            group_instance_id, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.group_id)
        out += _pack_i(self.generation_id)
        (write_compact_string if version >= 4 else write_string)(out, self.member_id)
        if version >= 3:
            (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.group_instance_id)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class HeartbeatResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    throttle_time_ms: int = 0  # v1+
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[HeartbeatResponse, int]":
        if version >= 1:
            throttle_time_ms, error_code = _read_ih(data, at)
            at += 6
        else:
            throttle_time_ms = 0
            error_code = _read_h(data, at)[0]
            at += 2
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return HeartbeatResponse(throttle_time_ms, error_code), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_ih(self.throttle_time_ms, self.error_code)
        else:
            out += _pack_h(self.error_code)
        if version >= 4:
            out.append(0)
