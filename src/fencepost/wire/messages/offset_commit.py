"""OffsetCommit, API key 8, versions 2 to 10.

Written by scripts/generate_messages.py; do not edit.
"""

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
    read_nullable_string,
    read_string,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_iq = Struct(">iq").unpack_from
_pack_iq = Struct(">iq").pack
_read_iqi = Struct(">iqi").unpack_from
_pack_iqi = Struct(">iqi").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack


@dataclass(slots=True)
class OffsetCommitRequestPartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1  # v6+
    committed_metadata: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitRequestPartition, int]":
        if version >= 6:
            partition_index, committed_offset, committed_leader_epoch = _read_iqi(data, at)
            at += 16
        else:
            partition_index, committed_offset = _read_iq(data, at)
            at += 12
            committed_leader_epoch = -1
        committed_metadata, at = (read_compact_nullable_string if version >= 8 else read_nullable_string)(data, at)
        if version >= 8:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetCommitRequestPartition(
            partition_index, committed_offset, committed_leader_epoch, committed_metadata
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 6:
            out += _pack_iqi(self.partition_index, self.committed_offset, self.committed_leader_epoch)
        else:
            out += _pack_iq(self.partition_index, self.committed_offset)
        (write_compact_nullable_string if version >= 8 else write_nullable_string)(out, self.committed_metadata)
        if version >= 8:
            out.append(0)


@dataclass(slots=True)
class OffsetCommitRequestTopic:
    name: str = ""  # v2-9
    topic_id: UUID = ZERO_UUID  # v10+
    partitions: list[OffsetCommitRequestPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitRequestTopic, int]":
        name: str = ""
        if version <= 9:
            name, at = (read_compact_string if version >= 8 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 10:
            topic_id, at = read_uuid(data, at)
        partitions, at = (read_compact_array if version >= 8 else read_array)(
            data, at, version, OffsetCommitRequestPartition.read, 14
        )
        if version >= 8:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetCommitRequestTopic(name, topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        if version <= 9:
            (write_compact_string if version >= 8 else write_string)(out, self.name)
        if version >= 10:
            out += self.topic_id.bytes
        (write_compact_array if version >= 8 else write_array)(out, self.partitions, version)
        if version >= 8:
            out.append(0)


@dataclass(slots=True)
class OffsetCommitRequest(Message):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10

    group_id: str = ""
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    retention_time_ms: int = -1  # v2-4
    group_instance_id: str | None = None  # v7+
    topics: list[OffsetCommitRequestTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitRequest, int]":
        group_id, at = (read_compact_string if version >= 8 else read_string)(data, at)
        generation_id_or_member_epoch = _read_i(data, at)[0]
        at += 4
        member_id, at = (read_compact_string if version >= 8 else read_string)(data, at)
        retention_time_ms: int = -1
        if version <= 4:
            retention_time_ms = _read_q(data, at)[0]
            at += 8
        group_instance_id: str | None = None
        if version >= 7:
            group_instance_id, at = (read_compact_nullable_string if version >= 8 else read_nullable_string)(data, at)
        topics, at = (read_compact_array if version >= 8 else read_array)(
            data, at, version, OffsetCommitRequestTopic.read, 3
        )
        if version >= 8:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetCommitRequest(
            group_id, generation_id_or_member_epoch, member_id, retention_time_ms, group_instance_id, topics
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 8 else write_string)(out, self.group_id)
        out += _pack_i(self.generation_id_or_member_epoch)
        (write_compact_string if version >= 8 else write_string)(out, self.member_id)
        if version <= 4:
            out += _pack_q(self.retention_time_ms)
        if version >= 7:
            (write_compact_nullable_string if version >= 8 else write_nullable_string)(out, self.group_instance_id)
        (write_compact_array if version >= 8 else write_array)(out, self.topics, version)
        if version >= 8:
            out.append(0)


@dataclass(slots=True)
class OffsetCommitResponsePartition:
    partition_index: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitResponsePartition, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        if version >= 8:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetCommitResponsePartition(partition_index, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)
        if version >= 8:
            out.append(0)


@dataclass(slots=True)
class OffsetCommitResponseTopic:
    name: str = ""  # v2-9
    topic_id: UUID = ZERO_UUID  # v10+
    partitions: list[OffsetCommitResponsePartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitResponseTopic, int]":
        name: str = ""
        if version <= 9:
            name, at = (read_compact_string if version >= 8 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 10:
            topic_id, at = read_uuid(data, at)
        partitions, at = (read_compact_array if version >= 8 else read_array)(
            data, at, version, OffsetCommitResponsePartition.read, 6
        )
        if version >= 8:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetCommitResponseTopic(name, topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        if version <= 9:
            (write_compact_string if version >= 8 else write_string)(out, self.name)
        if version >= 10:
            out += self.topic_id.bytes
        (write_compact_array if version >= 8 else write_array)(out, self.partitions, version)
        if version >= 8:
            out.append(0)


@dataclass(slots=True)
class OffsetCommitResponse(Message):
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10

    throttle_time_ms: int = 0  # v3+
    topics: list[OffsetCommitResponseTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitResponse, int]":
        throttle_time_ms: int = 0
        if version >= 3:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        topics, at = (read_compact_array if version >= 8 else read_array)(
            data, at, version, OffsetCommitResponseTopic.read, 3
        )
        if version >= 8:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return OffsetCommitResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 8 else write_array)(out, self.topics, version)
        if version >= 8:
            out.append(0)
