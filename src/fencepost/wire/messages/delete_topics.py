"""DeleteTopics, API key 20, versions 1 to 6.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    ZERO_UUID,
    Data,
    read_array,
    read_compact_array,
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    read_string,
    read_strings,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_nullable_string,
    write_compact_string,
    write_compact_strings,
    write_string,
    write_strings,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack


@dataclass(slots=True)
class DeleteTopicState:
    name: str | None = None
    topic_id: UUID = ZERO_UUID

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteTopicState, int]":
        name, at = read_compact_nullable_string(data, at)
        topic_id, at = read_uuid(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteTopicState(name, topic_id), at

    def write(self, out: Output, version: int) -> None:
        write_compact_nullable_string(out, self.name)
        out += self.topic_id.bytes
        out.append(0)


@dataclass(slots=True)
class DeleteTopicsRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6

    topic_names: list[str] = field(default_factory=list)  # v1-5
    topics: list[DeleteTopicState] = field(default_factory=list)  # v6+
    timeout_ms: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteTopicsRequest, int]":
        topic_names: list[str] = []
        if version <= 5:
            topic_names, at = (read_compact_strings if version >= 4 else read_strings)(data, at)
        topics: list[DeleteTopicState] = []
        if version >= 6:
            topics, at = read_compact_array(data, at, version, DeleteTopicState.read, 18)
        timeout_ms = _read_i(data, at)[0]
        at += 4
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteTopicsRequest(topic_names, topics, timeout_ms), at

    def write(self, out: Output, version: int) -> None:
        if version <= 5:
            (write_compact_strings if version >= 4 else write_strings)(out, self.topic_names)
        if version >= 6:
            write_compact_array(out, self.topics, version)
        out += _pack_i(self.timeout_ms)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DeletableTopicResult:
    name: str | None = ""
    topic_id: UUID = ZERO_UUID  # v6+
    error_code: int = 0
    error_message: str | None = None  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeletableTopicResult, int]":
        name, at = (
            read_compact_nullable_string if version >= 6 else read_compact_string if version >= 4 else read_string
        )(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 6:
            topic_id, at = read_uuid(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        error_message: str | None = None
        if version >= 5:
            error_message, at = read_compact_nullable_string(data, at)
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeletableTopicResult(name, topic_id, error_code, error_message), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_nullable_string if version >= 6 else write_compact_string if version >= 4 else write_string)(
            out, self.name
        )
        if version >= 6:
            out += self.topic_id.bytes
        out += _pack_h(self.error_code)
        if version >= 5:
            write_compact_nullable_string(out, self.error_message)
        if version >= 4:
            out.append(0)


@dataclass(slots=True)
class DeleteTopicsResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6

    throttle_time_ms: int = 0
    responses: list[DeletableTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DeleteTopicsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        responses, at = (read_compact_array if version >= 4 else read_array)(
            data, at, version, DeletableTopicResult.read, 4
        )
        if version >= 4:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DeleteTopicsResponse(throttle_time_ms, responses), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 4 else write_array)(out, self.responses, version)
        if version >= 4:
            out.append(0)
