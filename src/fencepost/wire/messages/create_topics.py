"""CreateTopics, API key 19, versions 2 to 7.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.types import Buffer
from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    ZERO_UUID,
    Data,
    check_tag_end,
    read_array,
    read_compact_array,
    read_compact_integers,
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_string,
    read_integers,
    read_nullable_string,
    read_string,
    read_tag,
    read_tag_count,
    read_uuid,
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
    write_nullable_string,
    write_string,
    write_tags,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_io = Struct(">i?").unpack_from
_pack_io = Struct(">i?").pack
_read_obo = Struct(">?b?").unpack_from
_pack_obo = Struct(">?b?").pack


@dataclass(slots=True)
class CreatableReplicaAssignment:
    partition_index: int = 0
    broker_ids: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatableReplicaAssignment, int]":
        partition_index = _read_i(data, at)[0]
        at += 4
        broker_ids, at = (read_compact_integers if version >= 5 else read_integers)(data, at, "i", 4)
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatableReplicaAssignment(partition_index, broker_ids), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.partition_index)
        (write_compact_integers if version >= 5 else write_integers)(out, self.broker_ids, "i")
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class CreatableTopicConfig:
    name: str = ""
    value: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatableTopicConfig, int]":
        name, at = (read_compact_string if version >= 5 else read_string)(data, at)
        value_, at = (read_compact_nullable_string if version >= 5 else read_nullable_string)(data, at)
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatableTopicConfig(name, value_), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 5 else write_string)(out, self.name)
        (write_compact_nullable_string if version >= 5 else write_nullable_string)(out, self.value)
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class CreatableTopic:
    name: str = ""
    num_partitions: int = 0
    replication_factor: int = 0
    assignments: list[CreatableReplicaAssignment] = field(default_factory=list)
    configs: list[CreatableTopicConfig] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatableTopic, int]":
        name, at = (read_compact_string if version >= 5 else read_string)(data, at)
        num_partitions, replication_factor = _read_ih(data, at)
        at += 6
        assignments, at = (read_compact_array if version >= 5 else read_array)(
            data, at, version, CreatableReplicaAssignment.read, 6
        )
        configs, at = (read_compact_array if version >= 5 else read_array)(
            data, at, version, CreatableTopicConfig.read, 3
        )
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatableTopic(name, num_partitions, replication_factor, assignments, configs), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 5 else write_string)(out, self.name)
        out += _pack_ih(self.num_partitions, self.replication_factor)
        (write_compact_array if version >= 5 else write_array)(out, self.assignments, version)
        (write_compact_array if version >= 5 else write_array)(out, self.configs, version)
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class CreateTopicsRequest(Message):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7

    topics: list[CreatableTopic] = field(default_factory=list)
    timeout_ms: int = 60000
    validate_only: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreateTopicsRequest, int]":
        topics, at = (read_compact_array if version >= 5 else read_array)(data, at, version, CreatableTopic.read, 10)
        timeout_ms, validate_only = _read_io(data, at)
        at += 5
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreateTopicsRequest(topics, timeout_ms, validate_only), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 5 else write_array)(out, self.topics, version)
        out += _pack_io(self.timeout_ms, self.validate_only)
        if version >= 5:
            out.append(0)


@dataclass(slots=True)
class CreatableTopicConfigs:
    name: str = ""
    value: str | None = ""
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatableTopicConfigs, int]":
        name, at = read_compact_string(data, at)
        value_, at = read_compact_nullable_string(data, at)
        read_only, config_source, is_sensitive = _read_obo(data, at)
        at += 3
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreatableTopicConfigs(name, value_, read_only, config_source, is_sensitive), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_nullable_string(out, self.value)
        out += _pack_obo(self.read_only, self.config_source, self.is_sensitive)
        out.append(0)


@dataclass(slots=True)
class CreatableTopicResult:
    name: str = ""
    topic_id: UUID = ZERO_UUID  # v7+
    error_code: int = 0
    error_message: str | None = ""
    topic_config_error_code: int = 0  # v5+, tag 0
    num_partitions: int = -1  # v5+
    replication_factor: int = -1  # v5+
    configs: list[CreatableTopicConfigs] | None = field(default_factory=list)  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreatableTopicResult, int]":
        name, at = (read_compact_string if version >= 5 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 7:
            topic_id, at = read_uuid(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = (read_compact_nullable_string if version >= 5 else read_nullable_string)(data, at)
        num_partitions: int = -1
        replication_factor: int = -1
        if version >= 5:
            num_partitions, replication_factor = _read_ih(data, at)
            at += 6
        configs: list[CreatableTopicConfigs] | None = []
        if version >= 5:
            configs, at = read_compact_nullable_array(data, at, version, CreatableTopicConfigs.read, 6)
        topic_config_error_code: int = 0
        if version >= 5:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0:
                        topic_config_error_code = _read_h(data, at)[0]
                        at += 2
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return CreatableTopicResult(
            name,
            topic_id,
            error_code,
            error_message,
            topic_config_error_code,
            num_partitions,
            replication_factor,
            configs,
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 5 else write_string)(out, self.name)
        if version >= 7:
            out += self.topic_id.bytes
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 5 else write_nullable_string)(out, self.error_message)
        if version >= 5:
            out += _pack_ih(self.num_partitions, self.replication_factor)
        if version >= 5:
            write_compact_nullable_array(out, self.configs, version)
        if version >= 5:
            tags: list[tuple[int, Buffer]] = []
            if self.topic_config_error_code:
                tags.append((0, _pack_h(self.topic_config_error_code)))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)


@dataclass(slots=True)
class CreateTopicsResponse(Message):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7

    throttle_time_ms: int = 0
    topics: list[CreatableTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CreateTopicsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        topics, at = (read_compact_array if version >= 5 else read_array)(
            data, at, version, CreatableTopicResult.read, 6
        )
        if version >= 5:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CreateTopicsResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 5 else write_array)(out, self.topics, version)
        if version >= 5:
            out.append(0)
