"""DescribeProducers, API key 61, versions 0 to 0.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_compact_array,
    read_compact_integers,
    read_compact_nullable_string,
    read_compact_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_string,
    write_compact_string,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_qiiqiq = Struct(">qiiqiq").unpack_from
_pack_qiiqiq = Struct(">qiiqiq").pack


@dataclass(slots=True)
class TopicRequest:
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicRequest, int]":
        name, at = read_compact_string(data, at)
        partition_indexes, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicRequest(name, partition_indexes), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_integers(out, self.partition_indexes, "i")
        out.append(0)


@dataclass(slots=True)
class DescribeProducersRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    topics: list[TopicRequest] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeProducersRequest, int]":
        topics, at = read_compact_array(data, at, version, TopicRequest.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeProducersRequest(topics), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class ProducerState:
    producer_id: int = 0
    producer_epoch: int = 0
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = 0
    current_txn_start_offset: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ProducerState, int]":
        producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset = (
            _read_qiiqiq(data, at)
        )
        at += 36
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ProducerState(
            producer_id, producer_epoch, last_sequence, last_timestamp, coordinator_epoch, current_txn_start_offset
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_qiiqiq(
            self.producer_id,
            self.producer_epoch,
            self.last_sequence,
            self.last_timestamp,
            self.coordinator_epoch,
            self.current_txn_start_offset,
        )
        out.append(0)


@dataclass(slots=True)
class PartitionResponse:
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    active_producers: list[ProducerState] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionResponse, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        active_producers, at = read_compact_array(data, at, version, ProducerState.read, 37)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PartitionResponse(partition_index, error_code, error_message, active_producers), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_array(out, self.active_producers, version)
        out.append(0)


@dataclass(slots=True)
class TopicResponse:
    name: str = ""
    partitions: list[PartitionResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicResponse, int]":
        name, at = read_compact_string(data, at)
        partitions, at = read_compact_array(data, at, version, PartitionResponse.read, 9)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicResponse(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_array(out, self.partitions, version)
        out.append(0)


@dataclass(slots=True)
class DescribeProducersResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    topics: list[TopicResponse] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeProducersResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        topics, at = read_compact_array(data, at, version, TopicResponse.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeProducersResponse(throttle_time_ms, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        write_compact_array(out, self.topics, version)
        out.append(0)
