"""FindCoordinator, API key 10, versions 0 to 6.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_compact_array,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_nullable_string,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_nullable_string,
    write_compact_string,
    write_compact_strings,
    write_nullable_string,
    write_string,
)

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class FindCoordinatorRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6

    key: str = ""  # v0-3
    key_type: int = 0  # v1+
    coordinator_keys: list[str] = field(default_factory=list)  # v4+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FindCoordinatorRequest, int]":
        key: str = ""
        if version <= 3:
            key, at = (read_compact_string if version >= 3 else read_string)(data, at)
        key_type: int = 0
        if version >= 1:
            key_type = _read_b(data, at)[0]
            at += 1
        coordinator_keys: list[str] = []
        if version >= 4:
            coordinator_keys, at = read_compact_strings(data, at)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return FindCoordinatorRequest(key, key_type, coordinator_keys), at

    def write(self, out: Output, version: int) -> None:
        if version <= 3:
            (write_compact_string if version >= 3 else write_string)(out, self.key)
        if version >= 1:
            out += _pack_b(self.key_type)
        if version >= 4:
            write_compact_strings(out, self.coordinator_keys)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class Coordinator:
    key: str = ""
    node_id: int = 0
    host: str = ""
    port: int = 0
    error_code: int = 0
    error_message: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[Coordinator, int]":
        key, at = read_compact_string(data, at)
        node_id = _read_i(data, at)[0]
        at += 4
        host, at = read_compact_string(data, at)
        port, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return Coordinator(key, node_id, host, port, error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.key)
        out += _pack_i(self.node_id)
        write_compact_string(out, self.host)
        out += _pack_ih(self.port, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        out.append(0)


@dataclass(slots=True)
class FindCoordinatorResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6

    throttle_time_ms: int = 0  # v1+
    error_code: int = 0  # v0-3
    error_message: str | None = ""  # v1-3
    node_id: int = 0  # v0-3
    host: str = ""  # v0-3
    port: int = 0  # v0-3
    coordinators: list[Coordinator] = field(default_factory=list)  # v4+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FindCoordinatorResponse, int]":
        throttle_time_ms: int = 0
        if version >= 1:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        error_code: int = 0
        if version <= 3:
            error_code = _read_h(data, at)[0]
            at += 2
        error_message: str | None = ""
        if 1 <= version <= 3:
            error_message, at = (read_compact_nullable_string if version >= 3 else read_nullable_string)(data, at)
        node_id: int = 0
        if version <= 3:
            node_id = _read_i(data, at)[0]
            at += 4
        host: str = ""
        if version <= 3:
            host, at = (read_compact_string if version >= 3 else read_string)(data, at)
        port: int = 0
        if version <= 3:
            port = _read_i(data, at)[0]
            at += 4
        coordinators: list[Coordinator] = []
        if version >= 4:
            coordinators, at = read_compact_array(data, at, version, Coordinator.read, 14)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return FindCoordinatorResponse(
            throttle_time_ms, error_code, error_message, node_id, host, port, coordinators
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_i(self.throttle_time_ms)
        if version <= 3:
            out += _pack_h(self.error_code)
        if 1 <= version <= 3:
            (write_compact_nullable_string if version >= 3 else write_nullable_string)(out, self.error_message)
        if version <= 3:
            out += _pack_i(self.node_id)
        if version <= 3:
            (write_compact_string if version >= 3 else write_string)(out, self.host)
        if version <= 3:
            out += _pack_i(self.port)
        if version >= 4:
            write_compact_array(out, self.coordinators, version)
        if version >= 3:
            out.append(0)
