"""OffsetForLeaderEpoch, API key 23, versions 2 to 4.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_array, read_compact_array, read_compact_string, read_string, skip_tags
from fencepost.wire.writing import write_array, write_compact_array, write_compact_string, write_string

_read_hiiq = Struct(">hiiq").unpack_from
_pack_hiiq = Struct(">hiiq").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_iii = Struct(">iii").unpack_from
_pack_iii = Struct(">iii").pack


@dataclass(slots=True)
class OffsetForLeaderPartition:
    partition: int = 0
    current_leader_epoch: int = -1
    leader_epoch: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetForLeaderPartition, int]":
        partition, current_leader_epoch, leader_epoch = _read_iii(data, at)
        at += 12
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetForLeaderPartition(partition, current_leader_epoch, leader_epoch), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iii(self.partition, self.current_leader_epoch, self.leader_epoch)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class OffsetForLeaderTopic:
    topic: str = ""
    partitions: list[OffsetForLeaderPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetForLeaderTopic, int]":
        topic, at = (read_compact_string if version >= 4 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, OffsetForLeaderPartition.read, 12
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetForLeaderTopic(topic, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.topic)
        (write_compact_array if version >= 4 else write_array)(out, self.partitions, version)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class OffsetForLeaderEpochRequest(Message):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4

    replica_id: int = -2  # v3+
    topics: list[OffsetForLeaderTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetForLeaderEpochRequest, int]":
        replica_id: int = -2
        if version >= 3:
            replica_id = _read_i(data, at)[0]
            at += 4
        topics, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, OffsetForLeaderTopic.read, 3
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetForLeaderEpochRequest(replica_id, topics), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            out += _pack_i(self.replica_id)
        (write_compact_array if version >= 4 else write_array)(out, self.topics, version)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class EpochEndOffset:
    error_code: int = 0
    partition: int = 0
    leader_epoch: int = -1
    end_offset: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[EpochEndOffset, int]":
        error_code, partition, leader_epoch, end_offset = _read_hiiq(data, at)
        at += 18
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return EpochEndOffset(error_code, partition, leader_epoch, end_offset), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_hiiq(self.error_code, self.partition, self.leader_epoch, self.end_offset)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class OffsetForLeaderTopicResult:
    topic: str = ""
    partitions: list[EpochEndOffset] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetForLeaderTopicResult, int]":
        topic, at = (read_compact_string if version >= 4 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, EpochEndOffset.read, 18
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetForLeaderTopicResult(topic, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 4 else write_string)(out, self.topic)
        (write_compact_array if version >= 4 else write_array)(out, self.partitions, version)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class OffsetForLeaderEpochResponse(Message):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4

    throttle_time_ms: int = 0
    topics: list[OffsetForLeaderTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetForLeaderEpochResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        topics, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, OffsetForLeaderTopicResult.read, 3
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetForLeaderEpochResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 4 else write_array)(out, self.topics, version)
        if version >= 4:
            out.append(0)
