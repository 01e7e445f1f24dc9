"""CreatePartitions, API key 37, versions 0 to 3.

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

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_io = Struct(">i?").unpack_from
_pack_io = Struct(">i?").pack


@dataclass(slots=True)
class CreatePartitionsAssignment:
    broker_ids: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatePartitionsAssignment, int]":
        broker_ids, at = (read_compact_integers if version >= 2 else read_integers)(data, at, "i", 4)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatePartitionsAssignment(broker_ids), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_integers if version >= 2 else write_integers)(out, self.broker_ids, "i")
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class CreatePartitionsTopic:
    name: str = ""
    count: int = 0
    assignments: list[CreatePartitionsAssignment] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatePartitionsTopic, int]":
        name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        count_ = _read_i(data, at)[0]
        at += 4
        assignments, at = (read_compact_nullable_array if version >= 2 else read_nullable_array)(
            data, at, version, CreatePartitionsAssignment.read, 2
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatePartitionsTopic(name, count_, assignments), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.name)
        out += _pack_i(self.count)
        (write_compact_nullable_array if version >= 2 else write_nullable_array)(out, self.assignments, version)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class CreatePartitionsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3

    topics: list[CreatePartitionsTopic] = field(default_factory=list)
    timeout_ms: int = 0
    validate_only: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatePartitionsRequest, int]":
        topics, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, CreatePartitionsTopic.read, 7
        )
        timeout_ms, validate_only = _read_io(data, at)
        at += 5
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatePartitionsRequest(topics, timeout_ms, validate_only), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 2 else write_array)(out, self.topics, version)
        out += _pack_io(self.timeout_ms, self.validate_only)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class CreatePartitionsTopicResult:
    name: str = ""
    error_code: int = 0
    error_message: str | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatePartitionsTopicResult, int]":
        name, at = (read_compact_string if version >= 2 else read_string)(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatePartitionsTopicResult(name, error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 2 else write_string)(out, self.name)
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.error_message)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class CreatePartitionsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3

    throttle_time_ms: int = 0
    results: list[CreatePartitionsTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatePartitionsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        results, at = (read_compact_array if version >= 2 else read_array)(
            data, at, version, CreatePartitionsTopicResult.read, 5
        )
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatePartitionsResponse(throttle_time_ms, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 2 else write_array)(out, self.results, version)
        if version >= 2:
            out.append(0)
