"""DescribeConfigs, API key 32, versions 1 to 4.

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
    read_compact_nullable_strings,
    read_compact_string,
    read_nullable_string,
    read_nullable_strings,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_nullable_string,
    write_compact_nullable_strings,
    write_compact_string,
    write_nullable_string,
    write_nullable_strings,
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
_read_obo = Struct(">?b?").unpack_from
_pack_obo = Struct(">?b?").pack
_read_oo = Struct(">??").unpack_from
_pack_oo = Struct(">??").pack


@dataclass(slots=True)
class DescribeConfigsResource:
    resource_type: int = 0
    resource_name: str = ""
    configuration_keys: list[str] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeConfigsResource, int]":
        resource_type = _read_b(data, at)[0]
        at += 1
        resource_name, at = (read_compact_string if version >= 4 else read_string)(data, at)
        configuration_keys, at = (read_compact_nullable_strings if version >= 4 else read_nullable_strings)(data, at)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeConfigsResource(resource_type, resource_name, configuration_keys), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_b(self.resource_type)
        (write_compact_string if version >= 4 else write_string)(out, self.resource_name)
        (write_compact_nullable_strings if version >= 4 else write_nullable_strings)(out, self.configuration_keys)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DescribeConfigsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4

    resources: list[DescribeConfigsResource] = field(default_factory=list)
    include_synonyms: bool = False
    include_documentation: bool = False  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeConfigsRequest, int]":
        resources, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, DescribeConfigsResource.read, 4
        )
        if version >= 3:
            include_synonyms, include_documentation = _read_oo(data, at)
            at += 2
        else:
            include_synonyms = _read_o(data, at)[0]
            at += 1
            include_documentation = False
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeConfigsRequest(resources, include_synonyms, include_documentation), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 4 else write_array)(out, self.resources, version)
        if version >= 3:
            out += _pack_oo(self.include_synonyms, self.include_documentation)
        else:
            out += _pack_o(self.include_synonyms)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DescribeConfigsSynonym:
    name: str = ""
    value: str | None = ""
    source: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeConfigsSynonym, int]":
        name, at = (read_compact_string if version >= 4 else read_string)(data, at)
        value_, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        source = _read_b(data, at)[0]
        at += 1
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeConfigsSynonym(name, value_, source), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.name)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.value)
        out += _pack_b(self.source)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DescribeConfigsResourceResult:
    name: str = ""
    value: str | None = ""
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    synonyms: list[DescribeConfigsSynonym] = field(default_factory=list)
    config_type: int = 0  # v3+
    documentation: str | None = ""  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeConfigsResourceResult, int]":
        name, at = (read_compact_string if version >= 4 else read_string)(data, at)
        value_, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        read_only, config_source, is_sensitive = _read_obo(data, at)
        at += 3
        synonyms, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, DescribeConfigsSynonym.read, 4
        )
        config_type: int = 0
        if version >= 3:
            config_type = _read_b(data, at)[0]
            at += 1
        documentation: str | None = ""
        if version >= 3:
            documentation, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeConfigsResourceResult(
            name, value_, read_only, config_source, is_sensitive, synonyms, config_type, documentation
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.name)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.value)
        out += _pack_obo(self.read_only, self.config_source, self.is_sensitive)
        (write_compact_array if version >= 4 else write_array)(out, self.synonyms, version)
        if version >= 3:
            out += _pack_b(self.config_type)
        if version >= 3:
            (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.documentation)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DescribeConfigsResult:
    error_code: int = 0
    error_message: str | None = ""
    resource_type: int = 0
    resource_name: str = ""
    configs: list[DescribeConfigsResourceResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeConfigsResult, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = (read_compact_nullable_string if version >= 4 else read_nullable_string)(data, at)
        resource_type = _read_b(data, at)[0]
        at += 1
        resource_name, at = (read_compact_string if version >= 4 else read_string)(data, at)
        configs, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, DescribeConfigsResourceResult.read, 9
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 4 else write_nullable_string)(out, self.error_message)
        out += _pack_b(self.resource_type)
        (write_compact_string if version >= 4 else write_string)(out, self.resource_name)
        (write_compact_array if version >= 4 else write_array)(out, self.configs, version)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DescribeConfigsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4

    throttle_time_ms: int = 0
    results: list[DescribeConfigsResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeConfigsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        results, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, DescribeConfigsResult.read, 7
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeConfigsResponse(throttle_time_ms, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 4 else write_array)(out, self.results, version)
        if version >= 4:
            out.append(0)
