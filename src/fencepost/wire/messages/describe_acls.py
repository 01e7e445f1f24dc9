"""DescribeAcls, API key 29, versions 1 to 3.

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
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class DescribeAclsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3

    resource_type_filter: int = 0
    resource_name_filter: str | None = ""
    pattern_type_filter: int = 3
    principal_filter: str | None = ""
    host_filter: str | None = ""
    operation: int = 0
    permission_type: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeAclsRequest, int]":
        resource_type_filter = _read_b(data, at)[0]
        at += 1
        resource_name_filter, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        pattern_type_filter = _read_b(data, at)[0]
        at += 1
        principal_filter, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        host_filter, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        operation, permission_type = _read_bb(data, at)
        at += 2
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeAclsRequest(
            resource_type_filter,
            resource_name_filter,
            pattern_type_filter,
            principal_filter,
            host_filter,
            operation,
            permission_type,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_b(self.resource_type_filter)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.resource_name_filter)
        out += _pack_b(self.pattern_type_filter)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.principal_filter)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.host_filter)
        out += _pack_bb(self.operation, self.permission_type)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AclDescription:
    principal: str = ""
    host: str = ""
    operation: int = 0
    permission_type: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AclDescription, int]":
        principal, at = (read_compact_string if version >= 2 else read_string)(data, at)
        host, at = (read_compact_string if version >= 2 else read_string)(data, at)
        operation, permission_type = _read_bb(data, at)
        at += 2
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AclDescription(principal, host, operation, permission_type), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.principal)
        (write_compact_string if version >= 2 else write_string)(out, self.host)
        out += _pack_bb(self.operation, self.permission_type)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeAclsResource:
    resource_type: int = 0
    resource_name: str = ""
    pattern_type: int = 3
    acls: list[AclDescription] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeAclsResource, int]":
        resource_type = _read_b(data, at)[0]
        at += 1
        resource_name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        pattern_type = _read_b(data, at)[0]
        at += 1
        acls, at = (read_compact_array if version >= 2 else read_array)(data, at, version, AclDescription.read, 5)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeAclsResource(resource_type, resource_name, pattern_type, acls), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_b(self.resource_type)
        (write_compact_string if version >= 2 else write_string)(out, self.resource_name)
        out += _pack_b(self.pattern_type)
        (write_compact_array if version >= 2 else write_array)(out, self.acls, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeAclsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    resources: list[DescribeAclsResource] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeAclsResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        resources, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DescribeAclsResource.read, 5
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.error_message)
        (write_compact_array if version >= 2 else write_array)(out, self.resources, version)
        if version >= 2:
            out.append(0)
