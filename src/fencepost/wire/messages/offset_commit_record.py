"""Records as stored: OffsetCommitKey to OffsetCommitValue.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.types import Buffer
from fencepost.wire.message import Output, VersionedRecord
from fencepost.wire.reading import (
    ZERO_UUID,
    Data,
    check_tag_end,
    read_compact_string,
    read_string,
    read_tag,
    read_tag_count,
    read_uuid,
)
from fencepost.wire.writing import write_compact_string, write_string, write_tags

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack
_read_qi = Struct(">qi").unpack_from
_pack_qi = Struct(">qi").pack


@dataclass(slots=True)
class OffsetCommitKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    group: str = ""
    topic: str = ""
    partition: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitKey, int]":
        group, at = read_string(data, at)
        topic, at = read_string(data, at)
        partition = _read_i(data, at)[0]
        at += 4
        return OffsetCommitKey(group, topic, partition), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.group)
        write_string(out, self.topic)
        out += _pack_i(self.partition)


@dataclass(slots=True)
class OffsetCommitValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    offset: int = 0
    leader_epoch: int = -1  # v3+
    metadata: str = ""
    commit_timestamp: int = 0
    expire_timestamp: int = -1  # v1
    topic_id: UUID = ZERO_UUID  # v4+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[OffsetCommitValue, int]":
        if version >= 3:
            offset, leader_epoch = _read_qi(data, at)
            at += 12
        else:
            offset = _read_q(data, at)[0]
            at += 8
            leader_epoch = -1
        metadata, at = (read_compact_string if version >= 4 else read_string)(data, at)
        commit_timestamp = _read_q(data, at)[0]
        at += 8
        expire_timestamp: int = -1
        if version == 1:
            expire_timestamp = _read_q(data, at)[0]
            at += 8
        topic_id: UUID = ZERO_UUID
        if version >= 4:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0:
                        topic_id, at = read_uuid(data, at)
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, topic_id), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            out += _pack_qi(self.offset, self.leader_epoch)
        else:
            out += _pack_q(self.offset)
        (write_compact_string if version >= 4 else write_string)(out, self.metadata)
        out += _pack_q(self.commit_timestamp)
        if version == 1:
            out += _pack_q(self.expire_timestamp)
        if version >= 4:
            tags: list[tuple[int, Buffer]] = []
            if self.topic_id != ZERO_UUID:
                value = Output()
                value += self.topic_id.bytes
                tags.append((0, value))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)
