"""ElectLeaders, API key 43, versions 0 to 2.

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
    read_compact_integers,
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_string,
    read_integers,
    read_nullable_array,
    read_nullable_string,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_array,
    write_compact_nullable_string,
    write_compact_string,
    write_integers,
    write_nullable_array,
    write_nullable_string,
    write_string,
)

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class TopicPartitions:
    topic: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicPartitions, int]":
        topic, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_integers if version >= 2 else read_integers)(data, at, "i", 4)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicPartitions(topic, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.topic)
        (write_compact_integers if version >= 2 else write_integers)(out, self.partitions, "i")
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class ElectLeadersRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    election_type: int = 0  # v1+
    topic_partitions: list[TopicPartitions] | None = field(default_factory=list)
    timeout_ms: int = 60000

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ElectLeadersRequest, int]":
        election_type: int = 0
        if version >= 1:
            election_type = _read_b(data, at)[0]
            at += 1
        topic_partitions, at = (read_compact_nullable_array if version >= 2 else read_nullable_array)(
            data, at, version, TopicPartitions.read, 3
        )
        timeout_ms = _read_i(data, at)[0]
        at += 4
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ElectLeadersRequest(election_type, topic_partitions, timeout_ms), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_b(self.election_type)
        (write_compact_nullable_array if version >= 2 else write_nullable_array)(out, self.topic_partitions, version)
        out += _pack_i(self.timeout_ms)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class PartitionResult:
    partition_id: int = 0
    error_code: int = 0
    error_message: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionResult, int]":
        partition_id, error_code = _read_ih(data, at)
        at += 6
        error_message, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PartitionResult(partition_id, error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_id, self.error_code)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.error_message)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class ReplicaElectionResult:
    topic: str = ""
    partition_result: list[PartitionResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ReplicaElectionResult, int]":
        topic, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partition_result, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, PartitionResult.read, 8
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ReplicaElectionResult(topic, partition_result), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.topic)
        (write_compact_array if version >= 2 else write_array)(out, self.partition_result, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class ElectLeadersResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    error_code: int = 0  # v1+
    replica_election_results: list[ReplicaElectionResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ElectLeadersResponse, int]":
        if version >= 1:
            throttle_time_ms, error_code = _read_ih(data, at)
            at += 6
        else:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
            error_code = 0
        replica_election_results, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, ReplicaElectionResult.read, 3
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results), at

    def write(self, out: Output, version: int) -> None:
        if version >= 1:
            out += _pack_ih(self.throttle_time_ms, self.error_code)
        else:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.replica_election_results, version)
        if version >= 2:
            out.append(0)
