"""ListOffsets, API key 2, versions 1 to 11.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_array, read_compact_array, read_compact_string, read_string, skip_tags
from fencepost.wire.writing import write_array, write_compact_array, write_compact_string, write_string

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ib = Struct(">ib").unpack_from
_pack_ib = Struct(">ib").pack
_read_ihqq = Struct(">ihqq").unpack_from
_pack_ihqq = Struct(">ihqq").pack
_read_ihqqi = Struct(">ihqqi").unpack_from
_pack_ihqqi = Struct(">ihqqi").pack
_read_iiq = Struct(">iiq").unpack_from
_pack_iiq = Struct(">iiq").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack


@dataclass(slots=True)
class ListOffsetsPartition:
    partition_index: int = 0
    current_leader_epoch: int = -1  # v4+
    timestamp: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListOffsetsPartition, int]":
        if version >= 4:
            partition_index, current_leader_epoch, timestamp = _read_iiq(data, at)
            at += 16
        else:
            partition_index = _read_i(data, at)[0]
            at += 4
            current_leader_epoch = -1
            timestamp = _read_q(data, at)[0]
            at += 8
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListOffsetsPartition(partition_index, current_leader_epoch, timestamp), at

    def write(self, out: Output, version: int) -> None:
        if version >= 4:
            out += _pack_iiq(self.partition_index, self.current_leader_epoch, self.timestamp)
        else:
            out += _pack_i(self.partition_index)
            out += _pack_q(self.timestamp)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class ListOffsetsTopic:
    name: str = ""
    partitions: list[ListOffsetsPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListOffsetsTopic, int]":
        name, at = (read_compact_string if version >= 6 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 6 else read_array)(
            data, at, version, ListOffsetsPartition.read, 12
        )
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListOffsetsTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.name)
        (write_compact_array if version >= 6 else write_array)(out, self.partitions, version)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class ListOffsetsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11

    replica_id: int = 0
    isolation_level: int = 0  # v2+
    topics: list[ListOffsetsTopic] = field(default_factory=list)
    timeout_ms: int = 0  # v10+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListOffsetsRequest, int]":
        if version >= 2:
            replica_id, isolation_level = _read_ib(data, at)
            at += 5
        else:
            replica_id = _read_i(data, at)[0]
            at += 4
            isolation_level = 0
        topics, at = (read_compact_array if version >= 6 else read_array)(data, at, version, ListOffsetsTopic.read, 3)
        timeout_ms: int = 0
        if version >= 10:
            timeout_ms = _read_i(data, at)[0]
            at += 4
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms), at

    def write(self, out: Output, version: int) -> None:
        if version >= 2:
            out += _pack_ib(self.replica_id, self.isolation_level)
        else:
            out += _pack_i(self.replica_id)
        (write_compact_array if version >= 6 else write_array)(out, self.topics, version)
        if version >= 10:
            out += _pack_i(self.timeout_ms)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class ListOffsetsPartitionResponse:
    partition_index: int = 0
    error_code: int = 0
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1  # v4+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListOffsetsPartitionResponse, int]":
        if version >= 4:
            partition_index, error_code, timestamp, offset, leader_epoch = _read_ihqqi(data, at)
            at += 26
        else:
            partition_index, error_code, timestamp, offset = _read_ihqq(data, at)
            at += 22
            leader_epoch = -1
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListOffsetsPartitionResponse(partition_index, error_code, timestamp, offset, leader_epoch), at

    def write(self, out: Output, version: int) -> None:
        if version >= 4:
            out += _pack_ihqqi(self.partition_index, self.error_code, self.timestamp, self.offset, self.leader_epoch)
        else:
            out += _pack_ihqq(self.partition_index, self.error_code, self.timestamp, self.offset)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class ListOffsetsTopicResponse:
    name: str = ""
    partitions: list[ListOffsetsPartitionResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListOffsetsTopicResponse, int]":
        name, at = (read_compact_string if version >= 6 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 6 else read_array)(
            data, at, version, ListOffsetsPartitionResponse.read, 22
        )
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListOffsetsTopicResponse(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.name)
        (write_compact_array if version >= 6 else write_array)(out, self.partitions, version)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class ListOffsetsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11

    throttle_time_ms: int = 0  # v2+
    topics: list[ListOffsetsTopicResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListOffsetsResponse, int]":
        throttle_time_ms: int = 0
        if version >= 2:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        topics, at = (read_compact_array if version >= 6 else read_array)(
            data, at, version, ListOffsetsTopicResponse.read, 3
        )
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListOffsetsResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        if version >= 2:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 6 else write_array)(out, self.topics, version)
        if version >= 6:
            out.append(0)
