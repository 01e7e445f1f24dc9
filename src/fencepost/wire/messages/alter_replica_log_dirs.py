"""AlterReplicaLogDirs, API key 34, versions 1 to 2.

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
    read_compact_string,
    read_integers,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_integers,
    write_compact_string,
    write_integers,
    write_string,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class AlterReplicaLogDirTopic:
    name: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterReplicaLogDirTopic, int]":
        name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_integers if version >= 2 else read_integers)(data, at, "i", 4)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterReplicaLogDirTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.name)
        (write_compact_integers if version >= 2 else write_integers)(out, self.partitions, "i")
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AlterReplicaLogDir:
    path: str = ""
    topics: list[AlterReplicaLogDirTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterReplicaLogDir, int]":
        path, at = (read_compact_string if version >= 2 else read_string)(data, at)
        topics, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, AlterReplicaLogDirTopic.read, 3
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterReplicaLogDir(path, topics), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.path)
        (write_compact_array if version >= 2 else write_array)(out, self.topics, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AlterReplicaLogDirsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2

    dirs: list[AlterReplicaLogDir] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterReplicaLogDirsRequest, int]":
        dirs, at = (read_compact_array if version >= 2 else read_array)(data, at, version, AlterReplicaLogDir.read, 3)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterReplicaLogDirsRequest(dirs), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 2 else write_array)(out, self.dirs, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AlterReplicaLogDirPartitionResult:
    partition_index: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterReplicaLogDirPartitionResult, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterReplicaLogDirPartitionResult(partition_index, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AlterReplicaLogDirTopicResult:
    topic_name: str = ""
    partitions: list[AlterReplicaLogDirPartitionResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterReplicaLogDirTopicResult, int]":
        topic_name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, AlterReplicaLogDirPartitionResult.read, 6
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterReplicaLogDirTopicResult(topic_name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.topic_name)
        (write_compact_array if version >= 2 else write_array)(out, self.partitions, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class AlterReplicaLogDirsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    results: list[AlterReplicaLogDirTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AlterReplicaLogDirsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        results, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, AlterReplicaLogDirTopicResult.read, 3
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AlterReplicaLogDirsResponse(throttle_time_ms, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.results, version)
        if version >= 2:
            out.append(0)
