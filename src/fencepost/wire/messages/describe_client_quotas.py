"""DescribeClientQuotas, API key 48, versions 0 to 1.

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
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_array,
    read_nullable_string,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_nullable_array,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_array,
    write_nullable_string,
    write_string,
)

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_d = Struct(">d").unpack_from
_pack_d = Struct(">d").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class ComponentData:
    entity_type: str = ""
    match_type: int = 0
    match: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ComponentData, int]":
        entity_type, at = (read_compact_string if version >= 1 else read_string)(data, at)
        match_type = _read_b(data, at)[0]
        at += 1
        match, at = (read_compact_nullable_string if version >= 1 else read_nullable_string)(data, at)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ComponentData(entity_type, match_type, match), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 1 else write_string)(out, self.entity_type)
        out += _pack_b(self.match_type)
        (write_compact_nullable_string if version >= 1 else write_nullable_string)(out, self.match)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class DescribeClientQuotasRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    components: list[ComponentData] = field(default_factory=list)
    strict: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeClientQuotasRequest, int]":
        components, at = (read_compact_array if version >= 1 else read_array)(data, at, version, ComponentData.read, 4)
        strict = _read_o(data, at)[0]
        at += 1
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeClientQuotasRequest(components, strict), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 1 else write_array)(out, self.components, version)
        out += _pack_o(self.strict)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class EntityData:
    entity_type: str = ""
    entity_name: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[EntityData, int]":
        entity_type, at = (read_compact_string if version >= 1 else read_string)(data, at)
        entity_name, at = (read_compact_nullable_string if version >= 1 else read_nullable_string)(data, at)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return EntityData(entity_type, entity_name), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 1 else write_string)(out, self.entity_type)
        (write_compact_nullable_string if version >= 1 else write_nullable_string)(out, self.entity_name)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class ValueData:
    key: str = ""
    value: float = 0.0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ValueData, int]":
        key, at = (read_compact_string if version >= 1 else read_string)(data, at)
        value_ = _read_d(data, at)[0]
        at += 8
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ValueData(key, value_), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 1 else write_string)(out, self.key)
        out += _pack_d(self.value)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class EntryData:
    entity: list[EntityData] = field(default_factory=list)
    values: list[ValueData] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[EntryData, int]":
        entity, at = (read_compact_array if version >= 1 else read_array)(data, at, version, EntityData.read, 3)
        values, at = (read_compact_array if version >= 1 else read_array)(data, at, version, ValueData.read, 10)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return EntryData(entity, values), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 1 else write_array)(out, self.entity, version)
        (write_compact_array if version >= 1 else write_array)(out, self.values, version)
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class DescribeClientQuotasResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    entries: list[EntryData] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeClientQuotasResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = (read_compact_nullable_string if version >= 1 else read_nullable_string)(data, at)
        entries, at = (read_compact_nullable_array if version >= 1 else read_nullable_array)(
            data, at, version, EntryData.read, 3
        )
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        (write_compact_nullable_string if version >= 1 else write_nullable_string)(out, self.error_message)
        (write_compact_nullable_array if version >= 1 else write_nullable_array)(out, self.entries, version)
        if version >= 1:
            out.append(0)
