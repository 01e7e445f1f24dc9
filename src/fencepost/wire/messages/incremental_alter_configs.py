"""IncrementalAlterConfigs, API key 44, versions 0 to 1.

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
_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class AlterableConfig:
    name: str = ""
    config_operation: int = 0
    value: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterableConfig, int]":
        name, at = (read_compact_string if version >= 1 else read_string)(data, at)
        config_operation = _read_b(data, at)[0]
        at += 1
        value_, at = (read_compact_nullable_string if version >= 1 else read_nullable_string)(data, at)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterableConfig(name, config_operation, value_), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 1 else write_string)(out, self.name)
        out += _pack_b(self.config_operation)
        (write_compact_nullable_string if version >= 1 else write_nullable_string)(out, self.value)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class AlterConfigsResource:
    resource_type: int = 0
    resource_name: str = ""
    configs: list[AlterableConfig] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterConfigsResource, int]":
        resource_type = _read_b(data, at)[0]
        at += 1
        resource_name, at = (read_compact_string if version >= 1 else read_string)(data, at)
        configs, at = (read_compact_array if version >= 1 else read_array)(data, at, version, AlterableConfig.read, 4)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterConfigsResource(resource_type, resource_name, configs), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_b(self.resource_type)
        (write_compact_string if version >= 1 else write_string)(out, self.resource_name)
        (write_compact_array if version >= 1 else write_array)(out, self.configs, version)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class IncrementalAlterConfigsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    resources: list[AlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[IncrementalAlterConfigsRequest, int]":
        resources, at = (read_compact_array if version >= 1 else read_array)(
            data, at, version, AlterConfigsResource.read, 4
        )
        validate_only = _read_o(data, at)[0]
        at += 1
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return IncrementalAlterConfigsRequest(resources, validate_only), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 1 else write_array)(out, self.resources, version)
        out += _pack_o(self.validate_only)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class AlterConfigsResourceResponse:
    error_code: int = 0
    error_message: str | None = ""
    resource_type: int = 0
    resource_name: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterConfigsResourceResponse, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = (read_compact_nullable_string if version >= 1 else read_nullable_string)(data, at)
        resource_type = _read_b(data, at)[0]
        at += 1
        resource_name, at = (read_compact_string if version >= 1 else read_string)(data, at)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 1 else write_nullable_string)(out, self.error_message)
        out += _pack_b(self.resource_type)
        (write_compact_string if version >= 1 else write_string)(out, self.resource_name)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class IncrementalAlterConfigsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    throttle_time_ms: int = 0
    responses: list[AlterConfigsResourceResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[IncrementalAlterConfigsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        responses, at = (read_compact_array if version >= 1 else read_array)(
            data, at, version, AlterConfigsResourceResponse.read, 6
        )
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return IncrementalAlterConfigsResponse(throttle_time_ms, responses), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 1 else write_array)(out, self.responses, version)
        if version >= 1:
            out.append(0)
