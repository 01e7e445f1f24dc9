"""WriteTxnMarkers, API key 27, versions 1 to 2.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_compact_array, read_compact_integers, read_compact_string, skip_tags
from fencepost.wire.writing import write_compact_array, write_compact_integers, write_compact_string

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ib = Struct(">ib").unpack_from
_pack_ib = Struct(">ib").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack
_read_qho = Struct(">qh?").unpack_from
_pack_qho = Struct(">qh?").pack


@dataclass(slots=True)
class WritableTxnMarkerTopic:
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WritableTxnMarkerTopic, int]":
        name, at = read_compact_string(data, at)
        partition_indexes, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WritableTxnMarkerTopic(name, partition_indexes), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_integers(out, self.partition_indexes, "i")
        out.append(0)


@dataclass(slots=True)
class WritableTxnMarker:
    producer_id: int = 0
    producer_epoch: int = 0
    transaction_result: bool = False
    topics: list[WritableTxnMarkerTopic] = field(default_factory=list)
    coordinator_epoch: int = 0
    transaction_version: int = 0  # v2+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WritableTxnMarker, int]":
        producer_id, producer_epoch, transaction_result = _read_qho(data, at)
        at += 11
        topics, at = read_compact_array(data, at, version, WritableTxnMarkerTopic.read, 3)
        if version >= 2:
            coordinator_epoch, transaction_version = _read_ib(data, at)
            at += 5
        else:
            coordinator_epoch = _read_i(data, at)[0]
            at += 4
            transaction_version = 0
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WritableTxnMarker(
            producer_id, producer_epoch, transaction_result, topics, coordinator_epoch, transaction_version
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_qho(self.producer_id, self.producer_epoch, self.transaction_result)
        write_compact_array(out, self.topics, version)
        if version >= 2:
            out += _pack_ib(self.coordinator_epoch, self.transaction_version)
        else:
            out += _pack_i(self.coordinator_epoch)
        out.append(0)


@dataclass(slots=True)
class WriteTxnMarkersRequest(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2

    markers: list[WritableTxnMarker] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WriteTxnMarkersRequest, int]":
        markers, at = read_compact_array(data, at, version, WritableTxnMarker.read, 17)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WriteTxnMarkersRequest(markers), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.markers, version)
        out.append(0)


@dataclass(slots=True)
class WritableTxnMarkerPartitionResult:
    partition_index: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WritableTxnMarkerPartitionResult, int]":
        partition_index, error_code = _read_ih(data, at)
        at += 6
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WritableTxnMarkerPartitionResult(partition_index, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.error_code)
        out.append(0)


@dataclass(slots=True)
class WritableTxnMarkerTopicResult:
    name: str = ""
    partitions: list[WritableTxnMarkerPartitionResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WritableTxnMarkerTopicResult, int]":
        name, at = read_compact_string(data, at)
        partitions, at = read_compact_array(data, at, version, WritableTxnMarkerPartitionResult.read, 7)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WritableTxnMarkerTopicResult(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        write_compact_array(out, self.partitions, version)
        out.append(0)


@dataclass(slots=True)
class WritableTxnMarkerResult:
    producer_id: int = 0
    topics: list[WritableTxnMarkerTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WritableTxnMarkerResult, int]":
        producer_id = _read_q(data, at)[0]
        at += 8
        topics, at = read_compact_array(data, at, version, WritableTxnMarkerTopicResult.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WritableTxnMarkerResult(producer_id, topics), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_q(self.producer_id)
        write_compact_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class WriteTxnMarkersResponse(Message):
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2

    markers: list[WritableTxnMarkerResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[WriteTxnMarkersResponse, int]":
        markers, at = read_compact_array(data, at, version, WritableTxnMarkerResult.read, 10)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return WriteTxnMarkersResponse(markers), at

    def write(self, out: Output, version: int) -> None:
        write_compact_array(out, self.markers, version)
        out.append(0)
