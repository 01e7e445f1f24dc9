"""OffsetDelete, API key 47, versions 0 to 0.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_array, read_string
from fencepost.wire.writing import write_array, write_string

_read_hi = Struct(">hi").unpack_from
_pack_hi = Struct(">hi").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class OffsetDeleteRequestPartition:
    partition_index: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetDeleteRequestPartition, int]":
        partition_index = _read_i(data, at)[0]
        at += 4
        return OffsetDeleteRequestPartition(partition_index), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.partition_index)


@dataclass(slots=True)
class OffsetDeleteRequestTopic:
    name: str = ""
    partitions: list[OffsetDeleteRequestPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetDeleteRequestTopic, int]":
        name, at = read_string(data, at)
        partitions, at = read_array(data, at, version, OffsetDeleteRequestPartition.read, 4)
        return OffsetDeleteRequestTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.name)
        write_array(out, self.partitions, version)


@dataclass(slots=True)
class OffsetDeleteRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    group_id: str = ""
    topics: list[OffsetDeleteRequestTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetDeleteRequest, int]":
        group_id, at = read_string(data, at)
        topics, at = read_array(data, at, version, OffsetDeleteRequestTopic.read, 6)
        return OffsetDeleteRequest(group_id, topics), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group_id)
        write_array(out, self.topics, version)


@dataclass(slots=True)
class OffsetDeleteResponsePartition:
    partition_index: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetDeleteResponsePartition, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        return OffsetDeleteResponsePartition(partition_index, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)


@dataclass(slots=True)
class OffsetDeleteResponseTopic:
    name: str = ""
    partitions: list[OffsetDeleteResponsePartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetDeleteResponseTopic, int]":
        name, at = read_string(data, at)
        partitions, at = read_array(data, at, version, OffsetDeleteResponsePartition.read, 6)
        return OffsetDeleteResponseTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.name)
        write_array(out, self.partitions, version)


@dataclass(slots=True)
class OffsetDeleteResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    error_code: int = 0
    throttle_time_ms: int = 0
    topics: list[OffsetDeleteResponseTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetDeleteResponse, int]":
        error_code, throttle_time_ms = _read_hi(data, at)
        at += 6
        topics, at = read_array(data, at, version, OffsetDeleteResponseTopic.read, 6)
        return OffsetDeleteResponse(error_code, throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_hi(self.error_code, self.throttle_time_ms)
        write_array(out, self.topics, version)
