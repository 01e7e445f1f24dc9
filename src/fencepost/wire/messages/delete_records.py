"""DeleteRecords, API key 21, versions 0 to 2.

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
_read_iq = Struct(">iq").unpack_from
_pack_iq = Struct(">iq").pack
_read_iqh = Struct(">iqh").unpack_from
_pack_iqh = Struct(">iqh").pack


@dataclass(slots=True)
class DeleteRecordsPartition:
    partition_index: int = 0
    offset: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteRecordsPartition, int]":
        partition_index, offset = _read_iq(data, at)
        at += 12
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteRecordsPartition(partition_index, offset), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iq(self.partition_index, self.offset)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeleteRecordsTopic:
    name: str = ""
    partitions: list[DeleteRecordsPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteRecordsTopic, int]":
        name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DeleteRecordsPartition.read, 12
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteRecordsTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.name)
        (write_compact_array if version >= 2 else write_array)(out, self.partitions, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeleteRecordsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    topics: list[DeleteRecordsTopic] = field(default_factory=list)
    timeout_ms: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteRecordsRequest, int]":
        topics, at = (read_compact_array if version >= 2 else read_array)(data, at, version, DeleteRecordsTopic.read, 3)
        timeout_ms = _read_i(data, at)[0]
        at += 4
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteRecordsRequest(topics, timeout_ms), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 2 else write_array)(out, self.topics, version)
        out += _pack_i(self.timeout_ms)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeleteRecordsPartitionResult:
    partition_index: int = 0
    low_watermark: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteRecordsPartitionResult, int]":
        partition_index, low_watermark, error_code = _read_iqh(data, at)
        at += 14
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteRecordsPartitionResult(partition_index, low_watermark, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iqh(self.partition_index, self.low_watermark, self.error_code)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeleteRecordsTopicResult:
    name: str = ""
    partitions: list[DeleteRecordsPartitionResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteRecordsTopicResult, int]":
        name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DeleteRecordsPartitionResult.read, 14
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteRecordsTopicResult(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.name)
        (write_compact_array if version >= 2 else write_array)(out, self.partitions, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DeleteRecordsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    topics: list[DeleteRecordsTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteRecordsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        topics, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DeleteRecordsTopicResult.read, 3
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteRecordsResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.topics, version)
        if version >= 2:
            out.append(0)
