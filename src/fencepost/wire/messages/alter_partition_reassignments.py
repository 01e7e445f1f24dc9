"""AlterPartitionReassignments, API key 45, versions 0 to 1.

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
    read_compact_nullable_integers,
    read_compact_nullable_string,
    read_compact_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_nullable_integers,
    write_compact_nullable_string,
    write_compact_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_io = Struct(">i?").unpack_from
_pack_io = Struct(">i?").pack
_read_ioh = Struct(">i?h").unpack_from
_pack_ioh = Struct(">i?h").pack


@dataclass(slots=True)
class ReassignablePartition:
    partition_index: int = 0
    replicas: list[int] | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ReassignablePartition, int]":
        partition_index = _read_i(data, at)[0]
        at += 4
        replicas, at = read_compact_nullable_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ReassignablePartition(partition_index, replicas), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.partition_index)
        write_compact_nullable_integers(out, self.replicas, "i")
        out.append(0)


@dataclass(slots=True)
class ReassignableTopic:
    name: str = ""
    partitions: list[ReassignablePartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ReassignableTopic, int]":
        name, at = read_compact_string(data, at)
        partitions, at = read_compact_array(data, at, version, ReassignablePartition.read, 6)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ReassignableTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_array(out, self.partitions, version)
        out.append(0)


@dataclass(slots=True)
class AlterPartitionReassignmentsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    timeout_ms: int = 60000
    allow_replication_factor_change: bool = True  # v1+
    topics: list[ReassignableTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterPartitionReassignmentsRequest, int]":
        if version >= 1:
            timeout_ms, allow_replication_factor_change = _read_io(data, at)
            at += 5
        else:
            timeout_ms = _read_i(data, at)[0]
            at += 4
            allow_replication_factor_change = True
        topics, at = read_compact_array(data, at, version, ReassignableTopic.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterPartitionReassignmentsRequest(timeout_ms, allow_replication_factor_change, topics), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_io(self.timeout_ms, self.allow_replication_factor_change)
        else:
            out += _pack_i(self.timeout_ms)
        write_compact_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class ReassignablePartitionResponse:
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ReassignablePartitionResponse, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ReassignablePartitionResponse(partition_index, error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        out.append(0)


@dataclass(slots=True)
class ReassignableTopicResponse:
    name: str = ""
    partitions: list[ReassignablePartitionResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ReassignableTopicResponse, int]":
        name, at = read_compact_string(data, at)
        partitions, at = read_compact_array(data, at, version, ReassignablePartitionResponse.read, 8)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ReassignableTopicResponse(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_array(out, self.partitions, version)
        out.append(0)


@dataclass(slots=True)
class AlterPartitionReassignmentsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    throttle_time_ms: int = 0
    allow_replication_factor_change: bool = True  # v1+
    error_code: int = 0
    error_message: str | None = ""
    responses: list[ReassignableTopicResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterPartitionReassignmentsResponse, int]":
        if version >= 1:
            throttle_time_ms, allow_replication_factor_change, error_code = _read_ioh(data, at)
            at += 7
        else:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
            allow_replication_factor_change = True
            error_code = _read_h(data, at)[0]
            at += 2
        error_message, at = read_compact_nullable_string(data, at)
        responses, at = read_compact_array(data, at, version, ReassignableTopicResponse.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterPartitionReassignmentsResponse(
            throttle_time_ms, allow_replication_factor_change, error_code, error_message, responses
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_ioh(self.throttle_time_ms, self.allow_replication_factor_change, self.error_code)
        else:
            out += _pack_i(self.throttle_time_ms)
            out += _pack_h(self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_array(out, self.responses, version)
        out.append(0)
