"""ListPartitionReassignments, API key 46, versions 0 to 0.

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
    read_compact_integers,
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_array,
    write_compact_nullable_string,
    write_compact_string,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class ListPartitionReassignmentsTopics:
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListPartitionReassignmentsTopics, int]":
        name, at = read_compact_string(data, at)
        partition_indexes, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListPartitionReassignmentsTopics(name, partition_indexes), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_integers(out, self.partition_indexes, "i")
        out.append(0)


@dataclass(slots=True)
class ListPartitionReassignmentsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListPartitionReassignmentsRequest, int]":
        timeout_ms = _read_i(data, at)[0]
        at += 4
        topics, at = read_compact_nullable_array(data, at, version, ListPartitionReassignmentsTopics.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListPartitionReassignmentsRequest(timeout_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.timeout_ms)
        write_compact_nullable_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class OngoingPartitionReassignment:
    partition_index: int = 0
    replicas: list[int] = field(default_factory=list)
    adding_replicas: list[int] = field(default_factory=list)
    removing_replicas: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OngoingPartitionReassignment, int]":
        partition_index = _read_i(data, at)[0]
        at += 4
        replicas, at = read_compact_integers(data, at, "i", 4)
        adding_replicas, at = read_compact_integers(data, at, "i", 4)
        removing_replicas, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OngoingPartitionReassignment(partition_index, replicas, adding_replicas, removing_replicas), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.partition_index)
        write_compact_integers(out, self.replicas, "i")
        write_compact_integers(out, self.adding_replicas, "i")
        write_compact_integers(out, self.removing_replicas, "i")
        out.append(0)


@dataclass(slots=True)
class OngoingTopicReassignment:
    name: str = ""
    partitions: list[OngoingPartitionReassignment] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OngoingTopicReassignment, int]":
        name, at = read_compact_string(data, at)
        partitions, at = read_compact_array(data, at, version, OngoingPartitionReassignment.read, 8)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OngoingTopicReassignment(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_array(out, self.partitions, version)
        out.append(0)


@dataclass(slots=True)
class ListPartitionReassignmentsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    topics: list[OngoingTopicReassignment] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListPartitionReassignmentsResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        topics, at = read_compact_array(data, at, version, OngoingTopicReassignment.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListPartitionReassignmentsResponse(throttle_time_ms, error_code, error_message, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_array(out, self.topics, version)
        out.append(0)
