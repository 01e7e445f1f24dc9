"""UpdateFeatures, API key 57, versions 0 to 2.

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
    skip_tags,
)
from fencepost.wire.writing import write_compact_array, write_compact_nullable_string, write_compact_string

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class FeatureUpdateKey:
    feature: str = ""
    max_version_level: int = 0
    allow_downgrade: bool = False  # v0
    upgrade_type: int = 1  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FeatureUpdateKey, int]":
        feature, at = read_compact_string(data, at)
        max_version_level = _read_h(data, at)[0]
        at += 2
        allow_downgrade: bool = False
        if version == 0:
            allow_downgrade = _read_o(data, at)[0]
            at += 1
        upgrade_type: int = 1
        if version >= 1:
            upgrade_type = _read_b(data, at)[0]
            at += 1
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return FeatureUpdateKey(feature, max_version_level, allow_downgrade, upgrade_type), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.feature)
        out += _pack_h(self.max_version_level)
        if version == 0:
            out += _pack_o(self.allow_downgrade)
        if version >= 1:
            out += _pack_b(self.upgrade_type)
        out.append(0)


@dataclass(slots=True)
class UpdateFeaturesRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    timeout_ms: int = 60000
    feature_updates: list[FeatureUpdateKey] = field(default_factory=list)
    validate_only: bool = False  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[UpdateFeaturesRequest, int]":
        timeout_ms = _read_i(data, at)[0]
        at += 4
        feature_updates, at = read_compact_array(data, at, version, FeatureUpdateKey.read, 5)
        validate_only: bool = False
        if version >= 1:
            validate_only = _read_o(data, at)[0]
            at += 1
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return UpdateFeaturesRequest(timeout_ms, feature_updates, validate_only), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.timeout_ms)
        write_compact_array(out, self.feature_updates, version)
        if version >= 1:
            out += _pack_o(self.validate_only)
        out.append(0)


@dataclass(slots=True)
class UpdatableFeatureResult:
    feature: str = ""
    error_code: int = 0
    error_message: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[UpdatableFeatureResult, int]":
        feature, at = read_compact_string(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = read_compact_nullable_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return UpdatableFeatureResult(feature, error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.feature)
        out += _pack_h(self.error_code)
        write_compact_nullable_string(out, self.error_message)
        out.append(0)


@dataclass(slots=True)
class UpdateFeaturesResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: list[UpdatableFeatureResult] = field(default_factory=list)  # v0-1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[UpdateFeaturesResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        results: list[UpdatableFeatureResult] = []
        if version <= 1:
            results, at = read_compact_array(data, at, version, UpdatableFeatureResult.read, 5)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        if version <= 1:
            write_compact_array(out, self.results, version)
        out.append(0)
