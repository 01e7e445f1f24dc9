"""ListConfigResources, API key 74, versions 0 to 1.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_compact_array, read_compact_integers, read_compact_string, skip_tags
from fencepost.wire.writing import write_compact_array, write_compact_integers, write_compact_string

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class ListConfigResourcesRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    resource_types: list[int] = field(default_factory=list)  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListConfigResourcesRequest, int]":
        resource_types: list[int] = []
        if version >= 1:
            resource_types, at = read_compact_integers(data, at, "b", 1)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListConfigResourcesRequest(resource_types), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            write_compact_integers(out, self.resource_types, "b")
        out.append(0)


@dataclass(slots=True)
class ConfigResource:
    resource_name: str = ""
    resource_type: int = 16  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConfigResource, int]":
        resource_name, at = read_compact_string(data, at)
        resource_type: int = 16
        if version >= 1:
            resource_type = _read_b(data, at)[0]
            at += 1
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ConfigResource(resource_name, resource_type), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.resource_name)
        if version >= 1:
            out += _pack_b(self.resource_type)
        out.append(0)


@dataclass(slots=True)
class ListConfigResourcesResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ConfigResource] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListConfigResourcesResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        config_resources, at = read_compact_array(data, at, version, ConfigResource.read, 2)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_array(out, self.config_resources, version)
        out.append(0)
