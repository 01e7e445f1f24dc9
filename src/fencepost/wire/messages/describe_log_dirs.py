"""DescribeLogDirs, API key 35, versions 1 to 5.

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
    read_compact_string,
    read_integers,
    read_nullable_array,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_array,
    write_compact_string,
    write_integers,
    write_nullable_array,
    write_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_iqqo = Struct(">iqq?").unpack_from
_pack_iqqo = Struct(">iqq?").pack
_read_qq = Struct(">qq").unpack_from
_pack_qq = Struct(">qq").pack
_read_qqo = Struct(">qq?").unpack_from
_pack_qqo = Struct(">qq?").pack


@dataclass(slots=True)
class DescribableLogDirTopic:
    topic: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribableLogDirTopic, int]":
        topic, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_integers if version >= 2 else read_integers)(data, at, "i", 4)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribableLogDirTopic(topic, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.topic)
        (write_compact_integers if version >= 2 else write_integers)(out, self.partitions, "i")
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeLogDirsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5

    topics: list[DescribableLogDirTopic] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeLogDirsRequest, int]":
        topics, at = (read_compact_nullable_array if version >= 2 else read_nullable_array)(
            data, at, version, DescribableLogDirTopic.read, 3
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeLogDirsRequest(topics), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_nullable_array if version >= 2 else write_nullable_array)(out, self.topics, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeLogDirsPartition:
    partition_index: int = 0
    partition_size: int = 0
    offset_lag: int = 0
    is_future_key: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeLogDirsPartition, int]":
        partition_index, partition_size, offset_lag, is_future_key = _read_iqqo(data, at)
        at += 21
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeLogDirsPartition(partition_index, partition_size, offset_lag, is_future_key), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iqqo(self.partition_index, self.partition_size, self.offset_lag, self.is_future_key)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeLogDirsTopic:
    name: str = ""
    partitions: list[DescribeLogDirsPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeLogDirsTopic, int]":
        name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DescribeLogDirsPartition.read, 21
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeLogDirsTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.name)
        (write_compact_array if version >= 2 else write_array)(out, self.partitions, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeLogDirsResult:
    error_code: int = 0
    log_dir: str = ""
    topics: list[DescribeLogDirsTopic] = field(default_factory=list)
    total_bytes: int = -1  # v4+
    usable_bytes: int = -1  # v4+
    is_cordoned: bool = False  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeLogDirsResult, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        log_dir, at = (read_compact_string if version >= 2 else read_string)(data, at)
        topics, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DescribeLogDirsTopic.read, 3
        )
        if version >= 5:
            total_bytes, usable_bytes, is_cordoned = _read_qqo(data, at)
            at += 17
        else:
            total_bytes = -1
            usable_bytes = -1
            if version >= 4:
                total_bytes, usable_bytes = _read_qq(data, at)
                at += 16
            is_cordoned = False
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeLogDirsResult(error_code, log_dir, topics, total_bytes, usable_bytes, is_cordoned), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_string if version >= 2 else write_string)(out, self.log_dir)
        (write_compact_array if version >= 2 else write_array)(out, self.topics, version)
        if version >= 5:
            out += _pack_qqo(self.total_bytes, self.usable_bytes, self.is_cordoned)
        else:
            if version >= 4:
                out += _pack_qq(self.total_bytes, self.usable_bytes)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class DescribeLogDirsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5

    throttle_time_ms: int = 0
    error_code: int = 0  # v3+
    results: list[DescribeLogDirsResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeLogDirsResponse, int]":
        if version >= 3:
            throttle_time_ms, error_code = _read_ih(data, at)
            at += 6
        else:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
            error_code = 0
        results, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, DescribeLogDirsResult.read, 5
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeLogDirsResponse(throttle_time_ms, error_code, results), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            out += _pack_ih(self.throttle_time_ms, self.error_code)
        else:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.results, version)
        if version >= 2:
            out.append(0)
