"""TxnOffsetCommit, API key 28, versions 0 to 5.

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
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_string,
    read_string,
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
_read_qh = Struct(">qh").unpack_from
_pack_qh = Struct(">qh").pack
_read_qhi = Struct(">qhi").unpack_from
_pack_qhi = Struct(">qhi").pack


@dataclass(slots=True)
class TxnOffsetCommitRequestPartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1  # v2+
    committed_metadata: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TxnOffsetCommitRequestPartition, int]":
        if version >= 2:
            partition_index, committed_offset, committed_leader_epoch = _read_iqi(data, at)
            at += 16
        else:
            partition_index, committed_offset = _read_iq(data, at)
            at += 12
            committed_leader_epoch = -1
        committed_metadata, at = (read_compact_nullable_string if version >= 3 else read_nullable_string)(data, at)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TxnOffsetCommitRequestPartition(
            partition_index, committed_offset, committed_leader_epoch, committed_metadata
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 2:
            out += _pack_iqi(self.partition_index, self.committed_offset, self.committed_leader_epoch)
        else:
            out += _pack_iq(self.partition_index, self.committed_offset)
        (write_compact_nullable_string if version >= 3 else write_nullable_string)(out, self.committed_metadata)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic:
    name: str = ""
    partitions: list[TxnOffsetCommitRequestPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TxnOffsetCommitRequestTopic, int]":
        name, at = (read_compact_string if version >= 3 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 3 else read_array)(
            data, at, version, TxnOffsetCommitRequestPartition.read, 14
        )
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TxnOffsetCommitRequestTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.name)
        (write_compact_array if version >= 3 else write_array)(out, self.partitions, version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class TxnOffsetCommitRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    transactional_id: str = ""
    group_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id: int = -1  # v3+
    member_id: str = ""  # v3+
    group_instance_id: str | None = None  # v3+
    topics: list[TxnOffsetCommitRequestTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TxnOffsetCommitRequest, int]":
        transactional_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        group_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        if version >= 3:
            producer_id, producer_epoch, generation_id = _read_qhi(data, at)
            at += 14
        else:
            producer_id, producer_epoch = _read_qh(data, at)
            at += 10
            generation_id = -1
        member_id: str = ""
        if version >= 3:
            member_id, at = read_compact_string(data, at)
        group_instance_id: str | None = None
        if version >= 3:
            group_instance_id, at = read_compact_nullable_string(data, at)
        topics, at = (read_compact_array if version >= 3 else read_array)(
            data, at, version, TxnOffsetCommitRequestTopic.read, 3
        )
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TxnOffsetCommitRequest(
            transactional_id, group_id, producer_id, producer_epoch, generation_id, member_id, group_instance_id, topics
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.transactional_id)
        (write_compact_string if version >= 3 else write_string)(out, self.group_id)
        if version >= 3:
            out += _pack_qhi(self.producer_id, self.producer_epoch, self.generation_id)
        else:
            out += _pack_qh(self.producer_id, self.producer_epoch)
        if version >= 3:
            write_compact_string(out, self.member_id)
        if version >= 3:
            write_compact_nullable_string(out, self.group_instance_id)
        (write_compact_array if version >= 3 else write_array)(out, self.topics, version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class TxnOffsetCommitResponsePartition:
    partition_index: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TxnOffsetCommitResponsePartition, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TxnOffsetCommitResponsePartition(partition_index, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class TxnOffsetCommitResponseTopic:
    name: str = ""
    partitions: list[TxnOffsetCommitResponsePartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TxnOffsetCommitResponseTopic, int]":
        name, at = (read_compact_string if version >= 3 else read_string)(data, at)
        partitions, at = (read_compact_array if version >= 3 else read_array)(
            data, at, version, TxnOffsetCommitResponsePartition.read, 6
        )
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TxnOffsetCommitResponseTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.name)
        (write_compact_array if version >= 3 else write_array)(out, self.partitions, version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class TxnOffsetCommitResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    throttle_time_ms: int = 0
    topics: list[TxnOffsetCommitResponseTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TxnOffsetCommitResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        topics, at = (read_compact_array if version >= 3 else read_array)(
            data, at, version, TxnOffsetCommitResponseTopic.read, 3
        )
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TxnOffsetCommitResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 3 else write_array)(out, self.topics, version)
        if version >= 3:
            out.append(0)
