"""Produce, API key 0, versions 3 to 13.

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
    read_compact_nullable_records,
    read_compact_nullable_string,
    read_compact_string,
    read_nullable_records,
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
    write_compact_nullable_records,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_records,
    write_nullable_string,
    write_string,
    write_tags,
)

_read_hi = Struct(">hi").unpack_from
_pack_hi = Struct(">hi").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ihqq = Struct(">ihqq").unpack_from
_pack_ihqq = Struct(">ihqq").pack
_read_ihqqq = Struct(">ihqqq").unpack_from
_pack_ihqqq = Struct(">ihqqq").pack
_read_ii = Struct(">ii").unpack_from
_pack_ii = Struct(">ii").pack


@dataclass(slots=True)
class PartitionProduceData:
    index: int = 0
    records: Buffer | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionProduceData, int]":
        index = _read_i(data, at)[0]
        at += 4
        records, at = (read_compact_nullable_records if version >= 9 else read_nullable_records)(data, at)
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PartitionProduceData(index, records), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.index)
        (write_compact_nullable_records if version >= 9 else write_nullable_records)(out, self.records)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class TopicProduceData:
    name: str = ""  # v3-12
    topic_id: UUID = ZERO_UUID  # v13+
    partition_data: list[PartitionProduceData] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicProduceData, int]":
        name: str = ""
        if version <= 12:
            name, at = (read_compact_string if version >= 9 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 13:
            topic_id, at = read_uuid(data, at)
        partition_data, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, PartitionProduceData.read, 6
        )
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicProduceData(name, topic_id, partition_data), at

    def write(self, out: Output, version: int) -> None:
        if version <= 12:
            (write_compact_string if version >= 9 else write_string)(out, self.name)
        if version >= 13:
            out += self.topic_id.bytes
        (write_compact_array if version >= 9 else write_array)(out, self.partition_data, version)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class ProduceRequest(Message):
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13

    transactional_id: str | None = None
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[TopicProduceData] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ProduceRequest, int]":
        transactional_id, at = (read_compact_nullable_string if version >= 9 else read_nullable_string)(data, at)
        acks, timeout_ms = _read_hi(data, at)
        at += 6
        topic_data, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, TopicProduceData.read, 3
        )
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_nullable_string if version >= 9 else write_nullable_string)(out, self.transactional_id)
        out += _pack_hi(self.acks, self.timeout_ms)
        (write_compact_array if version >= 9 else write_array)(out, self.topic_data, version)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class BatchIndexAndErrorMessage:
    batch_index: int = 0
    batch_index_error_message: str | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[BatchIndexAndErrorMessage, int]":
        batch_index = _read_i(data, at)[0]
        at += 4
        batch_index_error_message, at = (read_compact_nullable_string if version >= 9 else read_nullable_string)(
            data, at
        )
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return BatchIndexAndErrorMessage(batch_index, batch_index_error_message), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.batch_index)
        (write_compact_nullable_string if version >= 9 else write_nullable_string)(out, self.batch_index_error_message)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class LeaderIdAndEpoch:
    leader_id: int = -1
    leader_epoch: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[LeaderIdAndEpoch, int]":
        leader_id, leader_epoch = _read_ii(data, at)
        at += 8
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return LeaderIdAndEpoch(leader_id, leader_epoch), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ii(self.leader_id, self.leader_epoch)
        out.append(0)


@dataclass(slots=True)
class PartitionProduceResponse:
    index: int = 0
    error_code: int = 0
    base_offset: int = 0
    log_append_time_ms: int = -1
    log_start_offset: int = -1  # v5+
    record_errors: list[BatchIndexAndErrorMessage] = field(default_factory=list)  # v8+
    error_message: str | None = None  # v8+
    current_leader: LeaderIdAndEpoch | None = None  # v10+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionProduceResponse, int]":
        if version >= 5:
            index, error_code, base_offset, log_append_time_ms, log_start_offset = _read_ihqqq(data, at)
            at += 30
        else:
            index, error_code, base_offset, log_append_time_ms = _read_ihqq(data, at)
            at += 22
            log_start_offset = -1
        record_errors: list[BatchIndexAndErrorMessage] = []
        if version >= 8:
            record_errors, at = (read_compact_array if version >= 9 else read_array)(
                data, at, version, BatchIndexAndErrorMessage.read, 6
            )
        error_message: str | None = None
        if version >= 8:
            error_message, at = (read_compact_nullable_string if version >= 9 else read_nullable_string)(data, at)
        current_leader: LeaderIdAndEpoch | None = None
        if version >= 9:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0 and version >= 10:
                        current_leader, at = LeaderIdAndEpoch.read(data, at, version)
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return PartitionProduceResponse(
            index,
            error_code,
            base_offset,
            log_append_time_ms,
            log_start_offset,
            record_errors,
            error_message,
            current_leader,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 5:
            out += _pack_ihqqq(
                self.index, self.error_code, self.base_offset, self.log_append_time_ms, self.log_start_offset
            )
        else:
            out += _pack_ihqq(self.index, self.error_code, self.base_offset, self.log_append_time_ms)
        if version >= 8:
            (write_compact_array if version >= 9 else write_array)(out, self.record_errors, version)
        if version >= 8:
            (write_compact_nullable_string if version >= 9 else write_nullable_string)(out, self.error_message)
        if version >= 9:
            tags: list[tuple[int, Buffer]] = []
            if version >= 10 and self.current_leader is not None and self.current_leader != LeaderIdAndEpoch():
                value = Output()
                self.current_leader.write(value, version)
                tags.append((0, value))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)


@dataclass(slots=True)
class TopicProduceResponse:
    name: str = ""  # v3-12
    topic_id: UUID = ZERO_UUID  # v13+
    partition_responses: list[PartitionProduceResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicProduceResponse, int]":
        name: str = ""
        if version <= 12:
            name, at = (read_compact_string if version >= 9 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 13:
            topic_id, at = read_uuid(data, at)
        partition_responses, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, PartitionProduceResponse.read, 22
        )
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicProduceResponse(name, topic_id, partition_responses), at

    def write(self, out: Output, version: int) -> None:
        if version <= 12:
            (write_compact_string if version >= 9 else write_string)(out, self.name)
        if version >= 13:
            out += self.topic_id.bytes
        (write_compact_array if version >= 9 else write_array)(out, self.partition_responses, version)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class NodeEndpoint:
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[NodeEndpoint, int]":
        node_id = _read_i(data, at)[0]
        at += 4
        host, at = read_compact_string(data, at)
        port = _read_i(data, at)[0]
        at += 4
        rack, at = read_compact_nullable_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return NodeEndpoint(node_id, host, port, rack), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.node_id)
        write_compact_string(out, self.host)
        out += _pack_i(self.port)
        write_compact_nullable_string(out, self.rack)
        out.append(0)


@dataclass(slots=True)
class ProduceResponse(Message):
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13

    responses: list[TopicProduceResponse] = field(default_factory=list)
    throttle_time_ms: int = 0
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)  # v10+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ProduceResponse, int]":
        responses, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, TopicProduceResponse.read, 3
        )
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        node_endpoints: list[NodeEndpoint] = []
        if version >= 9:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0 and version >= 10:
                        node_endpoints, at = read_compact_array(data, at, version, NodeEndpoint.read, 11)
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return ProduceResponse(responses, throttle_time_ms, node_endpoints), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_array if version >= 9 else write_array)(out, self.responses, version)
        out += _pack_i(self.throttle_time_ms)
        if version >= 9:
            tags: list[tuple[int, Buffer]] = []
            if version >= 10 and self.node_endpoints:
                value = Output()
                write_compact_array(value, self.node_endpoints, version)
                tags.append((0, value))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)
