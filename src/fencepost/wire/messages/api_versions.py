"""ApiVersions, API key 18, versions 0 to 4.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.types import Buffer
from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    check_tag_end,
    read_array,
    read_compact_array,
    read_compact_string,
    read_tag,
    read_tag_count,
    skip_tags,
)
from fencepost.wire.writing import write_array, write_compact_array, write_compact_string, write_tags

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_hh = Struct(">hh").unpack_from
_pack_hh = Struct(">hh").pack
_read_hhh = Struct(">hhh").unpack_from
_pack_hhh = Struct(">hhh").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack


@dataclass(slots=True)
class ApiVersionsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    client_software_name: str = ""  # v3+
    client_software_version: str = ""  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ApiVersionsRequest, int]":
        client_software_name: str = ""
        if version >= 3:
            client_software_name, at = read_compact_string(data, at)
        client_software_version: str = ""
        if version >= 3:
            client_software_version, at = read_compact_string(data, at)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ApiVersionsRequest(client_software_name, client_software_version), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            write_compact_string(out, self.client_software_name)
        if version >= 3:
            write_compact_string(out, self.client_software_version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class ApiVersion:
    api_key: int = 0
    min_version: int = 0
    max_version: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ApiVersion, int]":
        api_key, min_version, max_version = _read_hhh(data, at)
        at += 6
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ApiVersion(api_key, min_version, max_version), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_hhh(self.api_key, self.min_version, self.max_version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class SupportedFeatureKey:
    name: str = ""
    min_version: int = 0
    max_version: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[SupportedFeatureKey, int]":
        name, at = read_compact_string(data, at)
        min_version, max_version = _read_hh(data, at)
        at += 4
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return SupportedFeatureKey(name, min_version, max_version), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        out += _pack_hh(self.min_version, self.max_version)
        out.append(0)


@dataclass(slots=True)
class FinalizedFeatureKey:
    name: str = ""
    max_version_level: int = 0
    min_version_level: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FinalizedFeatureKey, int]":
        name, at = read_compact_string(data, at)
        max_version_level, min_version_level = _read_hh(data, at)
        at += 4
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return FinalizedFeatureKey(name, max_version_level, min_version_level), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        out += _pack_hh(self.max_version_level, self.min_version_level)
        out.append(0)


@dataclass(slots=True)
class ApiVersionsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    error_code: int = 0
    api_keys: list[ApiVersion] = field(default_factory=list)
    throttle_time_ms: int = 0  # v1+
    supported_features: list[SupportedFeatureKey] = field(default_factory=list)  # v3+, tag 0
    finalized_features_epoch: int = -1  # v3+, tag 1
    finalized_features: list[FinalizedFeatureKey] = field(default_factory=list)  # v3+, tag 2
    zk_migration_ready: bool = False  # v3+, tag 3

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ApiVersionsResponse, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        api_keys, at = (read_compact_array if version >= 3 else read_array)(data, at, version, ApiVersion.read, 6)
        throttle_time_ms: int = 0
        if version >= 1:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        supported_features: list[SupportedFeatureKey] = []
        finalized_features_epoch: int = -1
        finalized_features: list[FinalizedFeatureKey] = []
        zk_migration_ready: bool = False
        if version >= 3:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0:
                        supported_features, at = read_compact_array(data, at, version, SupportedFeatureKey.read, 6)
                    elif tag == 1:
                        finalized_features_epoch = _read_q(data, at)[0]
                        at += 8
                    elif tag == 2:
                        finalized_features, at = read_compact_array(data, at, version, FinalizedFeatureKey.read, 6)
                    elif tag == 3:
                        zk_migration_ready = _read_o(data, at)[0]
                        at += 1
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return ApiVersionsResponse(
            error_code,
            api_keys,
            throttle_time_ms,
            supported_features,
            finalized_features_epoch,
            finalized_features,
            zk_migration_ready,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_array if version >= 3 else write_array)(out, self.api_keys, version)
        if version >= 1:
            out += _pack_i(self.throttle_time_ms)
        if version >= 3:
            tags: list[tuple[int, Buffer]] = []
            if self.supported_features:
                value = Output()
                write_compact_array(value, self.supported_features, version)
                tags.append((0, value))
            if self.finalized_features_epoch != -1:
                tags.append((1, _pack_q(self.finalized_features_epoch)))
            if self.finalized_features:
                value = Output()
                write_compact_array(value, self.finalized_features, version)
                tags.append((2, value))
            if self.zk_migration_ready:
                tags.append((3, _pack_o(self.zk_migration_ready)))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)
