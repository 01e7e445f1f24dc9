"""OffsetFetch, API key 9, versions 1 to 10.

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
    read_compact_integers,
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_string,
    read_integers,
    read_nullable_array,
    read_nullable_string,
    read_string,
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
    write_nullable_array,
    write_nullable_string,
    write_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_iq = Struct(">iq").unpack_from
_pack_iq = Struct(">iq").pack
_read_iqi = Struct(">iqi").unpack_from
_pack_iqi = Struct(">iqi").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class OffsetFetchRequestTopic:
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchRequestTopic, int]":
        name, at = (read_compact_string if version >= 6 else read_string)(data, at)
        partition_indexes, at = (read_compact_integers if version >= 6 else read_integers)(data, at, "i", 4)
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchRequestTopic(name, partition_indexes), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.name)
        (write_compact_integers if version >= 6 else write_integers)(out, self.partition_indexes, "i")
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class OffsetFetchRequestTopics:
    name: str = ""  # v8-9
    topic_id: UUID = ZERO_UUID  # v10+
    partition_indexes: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchRequestTopics, int]":
        name: str = ""
        if version <= 9:
            name, at = read_compact_string(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 10:
            topic_id, at = read_uuid(data, at)
        partition_indexes, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchRequestTopics(name, topic_id, partition_indexes), at

    def write(self, out: Output, version: int) -> None:
        if version <= 9:
            write_compact_string(out, self.name)
        if version >= 10:
            out += self.topic_id.bytes
        write_compact_integers(out, self.partition_indexes, "i")
        out.append(0)


@dataclass(slots=True)
class OffsetFetchRequestGroup:
    group_id: str = ""
    member_id: str | None = None  # v9+
    member_epoch: int = -1  # v9+
    topics: list[OffsetFetchRequestTopics] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchRequestGroup, int]":
        group_id, at = read_compact_string(data, at)
        member_id: str | None = None
        if version >= 9:
            member_id, at = read_compact_nullable_string(data, at)
        member_epoch: int = -1
        if version >= 9:
            member_epoch = _read_i(data, at)[0]
            at += 4
        topics, at = read_compact_nullable_array(data, at, version, OffsetFetchRequestTopics.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchRequestGroup(group_id, member_id, member_epoch, topics), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.group_id)
        if version >= 9:
            write_compact_nullable_string(out, self.member_id)
        if version >= 9:
            out += _pack_i(self.member_epoch)
        write_compact_nullable_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class OffsetFetchRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10

    group_id: str = ""  # v1-7
    topics: list[OffsetFetchRequestTopic] | None = field(default_factory=list)  # v1-7
    groups: list[OffsetFetchRequestGroup] = field(default_factory=list)  # v8+
    require_stable: bool = False  # v7+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchRequest, int]":
        group_id: str = ""
        if version <= 7:
            group_id, at = (read_compact_string if version >= 6 else read_string)(data, at)
        topics: list[OffsetFetchRequestTopic] | None = []
        if version <= 7:
            topics, at = (
                read_compact_nullable_array if version >= 6 else read_nullable_array if version >= 2 else read_array
            )(data, at, version, OffsetFetchRequestTopic.read, 3)
        groups: list[OffsetFetchRequestGroup] = []
        if version >= 8:
            groups, at = read_compact_array(data, at, version, OffsetFetchRequestGroup.read, 3)
        require_stable: bool = False
        if version >= 7:
            require_stable = _read_o(data, at)[0]
            at += 1
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchRequest(group_id, topics, groups, require_stable), at

    def write(self, out: Output, version: int) -> None:
        if version <= 7:
            (write_compact_string if version >= 6 else write_string)(out, self.group_id)
        if version <= 7:
            (write_compact_nullable_array if version >= 6 else write_nullable_array if version >= 2 else write_array)(
                out, self.topics, version
            )
        if version >= 8:
            write_compact_array(out, self.groups, version)
        if version >= 7:
            out += _pack_o(self.require_stable)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class OffsetFetchResponsePartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1  # v5+
    metadata: str | None = ""
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchResponsePartition, int]":
        if version >= 5:
            partition_index, committed_offset, committed_leader_epoch = _read_iqi(data, at)
            at += 16
        else:
            partition_index, committed_offset = _read_iq(data, at)
            at += 12
            committed_leader_epoch = -1
        metadata, at = (read_compact_nullable_string if version >= 6 else read_nullable_string)(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchResponsePartition(
            partition_index, committed_offset, committed_leader_epoch, metadata, error_code
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 5:
            out += _pack_iqi(self.partition_index, self.committed_offset, self.committed_leader_epoch)
        else:
            out += _pack_iq(self.partition_index, self.committed_offset)
        (write_compact_nullable_string if version >= 6 else write_nullable_string)(out, self.metadata)
        out += _pack_h(self.error_code)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class OffsetFetchResponseTopic:
    name: str = ""
    partitions: list[OffsetFetchResponsePartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchResponseTopic, int]":
        name, at = (read_compact_string if version >= 6 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 6 else read_array)(
            data, at, version, OffsetFetchResponsePartition.read, 16
        )
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchResponseTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 6 else write_string)(out, self.name)
        (write_compact_array if version >= 6 else write_array)(out, self.partitions, version)
        if version >= 6:
            out.append(0)


@dataclass(slots=True)
class OffsetFetchResponsePartitions:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ""
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchResponsePartitions, int]":
        partition_index, committed_offset, committed_leader_epoch = _read_iqi(data, at)
        at += 16
        metadata, at = read_compact_nullable_string(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchResponsePartitions(
            partition_index, committed_offset, committed_leader_epoch, metadata, error_code
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iqi(self.partition_index, self.committed_offset, self.committed_leader_epoch)
        write_compact_nullable_string(out, self.metadata)
        out += _pack_h(self.error_code)
        out.append(0)


@dataclass(slots=True)
class OffsetFetchResponseTopics:
    name: str = ""  # v8-9
    topic_id: UUID = ZERO_UUID  # v10+
    partitions: list[OffsetFetchResponsePartitions] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchResponseTopics, int]":
        name: str = ""
        if version <= 9:
            name, at = read_compact_string(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 10:
            topic_id, at = read_uuid(data, at)
        partitions, at = read_compact_array(data, at, version, OffsetFetchResponsePartitions.read, 20)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchResponseTopics(name, topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        if version <= 9:
            write_compact_string(out, self.name)
        if version >= 10:
            out += self.topic_id.bytes
        write_compact_array(out, self.partitions, version)
        out.append(0)


@dataclass(slots=True)
class OffsetFetchResponseGroup:
    group_id: str = ""
    topics: list[OffsetFetchResponseTopics] = field(default_factory=list)
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchResponseGroup, int]":
        group_id, at = read_compact_string(data, at)
        topics, at = read_compact_array(data, at, version, OffsetFetchResponseTopics.read, 3)
        error_code = _read_h(data, at)[0]
        at += 2
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchResponseGroup(group_id, topics, error_code), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.group_id)
        write_compact_array(out, self.topics, version)
        out += _pack_h(self.error_code)
        out.append(0)


@dataclass(slots=True)
class OffsetFetchResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10

    throttle_time_ms: int = 0  # v3+
    topics: list[OffsetFetchResponseTopic] = field(default_factory=list)  # v1-7
    error_code: int = 0  # v2-7
    groups: list[OffsetFetchResponseGroup] = field(default_factory=list)  # v8+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetFetchResponse, int]":
        throttle_time_ms: int = 0
        if version >= 3:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        topics: list[OffsetFetchResponseTopic] = []
        if version <= 7:
            topics, at = (read_compact_array if version >= 6 else read_array)(
                data, at, version, OffsetFetchResponseTopic.read, 3
            )
        error_code: int = 0
        if 2 <= version <= 7:
            error_code = _read_h(data, at)[0]
            at += 2
        groups: list[OffsetFetchResponseGroup] = []
        if version >= 8:
            groups, at = read_compact_array(data, at, version, OffsetFetchResponseGroup.read, 5)
        if version >= 6:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetFetchResponse(throttle_time_ms, topics, error_code, groups), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            out += _pack_i(self.throttle_time_ms)
        if version <= 7:
            (write_compact_array if version >= 6 else write_array)(out, self.topics, version)
        if 2 <= version <= 7:
            out += _pack_h(self.error_code)
        if version >= 8:
            write_compact_array(out, self.groups, version)
        if version >= 6:
            out.append(0)
