"""CreateAcls, API key 30, versions 1 to 3.

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

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_bb = Struct(">bb").unpack_from
_pack_bb = Struct(">bb").pack
_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack


@dataclass(slots=True)
class AclCreation:
    resource_type: int = 0
    resource_name: str = ""
    resource_pattern_type: int = 3
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AclCreation, int]":
        resource_type = _read_b(data, at)[0]
        at += 1
        resource_name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        resource_pattern_type = _read_b(data, at)[0]
        at += 1
        principal, at = (read_compact_string if version >= 2 else read_string)(data, at)
        host, at = (read_compact_string if version >= 2 else read_string)(data, at)
        operation, permission_type = _read_bb(data, at)
        at += 2
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AclCreation(
            resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_b(self.resource_type)
        (write_compact_string if version >= 2 else write_string)(out, self.resource_name)
        out += _pack_b(self.resource_pattern_type)
        (write_compact_string if version >= 2 else write_string)(out, self.principal)
        (write_compact_string if version >= 2 else write_string)(out, self.host)
        out += _pack_bb(self.operation, self.permission_type)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class CreateAclsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3

    creations: list[AclCreation] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreateAclsRequest, int]":
        creations, at = (read_compact_array if version >= 2 else read_array)(data, at, version, AclCreation.read, 8)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreateAclsRequest(creations), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 2 else write_array)(out, self.creations, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AclCreationResult:
    error_code: int = 0
    error_message: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AclCreationResult, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AclCreationResult(error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.error_message)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class CreateAclsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3

    throttle_time_ms: int = 0
    results: list[AclCreationResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreateAclsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        results, at = (read_compact_array if version >= 2 else read_array)(data, at, version, AclCreationResult.read, 4)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreateAclsResponse(throttle_time_ms, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.results, version)
        if version >= 2:
            out.append(0)
