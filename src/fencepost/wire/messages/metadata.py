"""Metadata, API key 3, versions 0 to 13.

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
_read_hii = Struct(">hii").unpack_from
_pack_hii = Struct(">hii").pack
_read_hiii = Struct(">hiii").unpack_from
_pack_hiii = Struct(">hiii").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack


@dataclass(slots=True)
class MetadataRequestTopic:
    topic_id: UUID = ZERO_UUID  # v10+
    name: str | None = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MetadataRequestTopic, int]":
        topic_id: UUID = ZERO_UUID
        if version >= 10:
            topic_id, at = read_uuid(data, at)
        name, at = (
            read_compact_nullable_string if version >= 10 else read_compact_string if version >= 9 else read_string
        )(data, at)
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MetadataRequestTopic(topic_id, name), at

    def write(self, out: Output, version: int) -> None:
        if version >= 10:
            out += self.topic_id.bytes
        (write_compact_nullable_string if version >= 10 else write_compact_string if version >= 9 else write_string)(
            out, self.name
        )
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class MetadataRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13

    topics: list[MetadataRequestTopic] | None = field(default_factory=list)
    allow_auto_topic_creation: bool = True  # v4+
    include_cluster_authorized_operations: bool = False  # v8-10
    include_topic_authorized_operations: bool = False  # v8+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MetadataRequest, int]":
        topics, at = (
            read_compact_nullable_array if version >= 9 else read_nullable_array if version >= 1 else read_array
        )(data, at, version, MetadataRequestTopic.read, 2)
        allow_auto_topic_creation: bool = True
        if version >= 4:
            allow_auto_topic_creation = _read_o(data, at)[0]
            at += 1
        include_cluster_authorized_operations: bool = False
        if 8 <= version <= 10:
            include_cluster_authorized_operations = _read_o(data, at)[0]
            at += 1
        include_topic_authorized_operations: bool = False
        if version >= 8:
            include_topic_authorized_operations = _read_o(data, at)[0]
            at += 1
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MetadataRequest(
            topics,
            allow_auto_topic_creation,
            include_cluster_authorized_operations,
            include_topic_authorized_operations,
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_nullable_array if version >= 9 else write_nullable_array if version >= 1 else write_array)(
            out, self.topics, version
        )
        if version >= 4:
            out += _pack_o(self.allow_auto_topic_creation)
        if 8 <= version <= 10:
            out += _pack_o(self.include_cluster_authorized_operations)
        if version >= 8:
            out += _pack_o(self.include_topic_authorized_operations)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class MetadataResponseBroker:
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MetadataResponseBroker, int]":
        node_id = _read_i(data, at)[0]
        at += 4
        host, at = (read_compact_string if version >= 9 else read_string)(data, at)
        port = _read_i(data, at)[0]
        at += 4
        rack: str | None = None
        if version >= 1:
            rack, at = (read_compact_nullable_string if version >= 9 else read_nullable_string)(data, at)
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MetadataResponseBroker(node_id, host, port, rack), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.node_id)
        (write_compact_string if version >= 9 else write_string)(out, self.host)
        out += _pack_i(self.port)
        if version >= 1:
            (write_compact_nullable_string if version >= 9 else write_nullable_string)(out, self.rack)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class MetadataResponsePartition:
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1  # v7+
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    offline_replicas: list[int] = field(default_factory=list)  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MetadataResponsePartition, int]":
        if version >= 7:
            error_code, partition_index, leader_id, leader_epoch = _read_hiii(data, at)
            at += 14
        else:
            error_code, partition_index, leader_id = _read_hii(data, at)
            at += 10
            leader_epoch = -1
        replica_nodes, at = (read_compact_integers if version >= 9 else read_integers)(data, at, "i", 4)
        isr_nodes, at = (read_compact_integers if version >= 9 else read_integers)(data, at, "i", 4)
        offline_replicas: list[int] = []
        if version >= 5:
            offline_replicas, at = (read_compact_integers if version >= 9 else read_integers)(data, at, "i", 4)
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MetadataResponsePartition(
            error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 7:
            out += _pack_hiii(self.error_code, self.partition_index, self.leader_id, self.leader_epoch)
        else:
            out += _pack_hii(self.error_code, self.partition_index, self.leader_id)
        (write_compact_integers if version >= 9 else write_integers)(out, self.replica_nodes, "i")
        (write_compact_integers if version >= 9 else write_integers)(out, self.isr_nodes, "i")
        if version >= 5:
            (write_compact_integers if version >= 9 else write_integers)(out, self.offline_replicas, "i")
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class MetadataResponseTopic:
    error_code: int = 0
    name: str | None = ""
    topic_id: UUID = ZERO_UUID  # v10+
    is_internal: bool = False  # v1+
    partitions: list[MetadataResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648  # v8+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MetadataResponseTopic, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        name, at = (
            read_compact_nullable_string if version >= 12 else read_compact_string if version >= 9 else read_string
        )(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 10:
            topic_id, at = read_uuid(data, at)
        is_internal: bool = False
        if version >= 1:
            is_internal = _read_o(data, at)[0]
            at += 1
        partitions, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, MetadataResponsePartition.read, 18
        )
        topic_authorized_operations: int = -2147483648
        if version >= 8:
            topic_authorized_operations = _read_i(data, at)[0]
            at += 4
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MetadataResponseTopic(
            error_code, name, topic_id, is_internal, partitions, topic_authorized_operations
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 12 else write_compact_string if version >= 9 else write_string)(
            out, self.name
        )
        if version >= 10:
            out += self.topic_id.bytes
        if version >= 1:
            out += _pack_o(self.is_internal)
        (write_compact_array if version >= 9 else write_array)(out, self.partitions, version)
        if version >= 8:
            out += _pack_i(self.topic_authorized_operations)
        if version >= 9:
            out.append(0)


@dataclass(slots=True)
class MetadataResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13

    throttle_time_ms: int = 0  # v3+
    brokers: list[MetadataResponseBroker] = field(default_factory=list)
    cluster_id: str | None = None  # v2+
    controller_id: int = -1  # v1+
    topics: list[MetadataResponseTopic] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648  # v8-10
    error_code: int = 0  # v13+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[MetadataResponse, int]":
        throttle_time_ms: int = 0
        if version >= 3:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
        brokers, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, MetadataResponseBroker.read, 10
        )
        cluster_id: str | None = None
        if version >= 2:
            cluster_id, at = (read_compact_nullable_string if version >= 9 else read_nullable_string)(data, at)
        controller_id: int = -1
        if version >= 1:
            controller_id = _read_i(data, at)[0]
            at += 4
        topics, at = (read_compact_array if version >= 9 else read_array)(
            data, at, version, MetadataResponseTopic.read, 8
        )
        cluster_authorized_operations: int = -2147483648
        if 8 <= version <= 10:
            cluster_authorized_operations = _read_i(data, at)[0]
            at += 4
        error_code: int = 0
        if version >= 13:
            error_code = _read_h(data, at)[0]
            at += 2
        if version >= 9:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return MetadataResponse(
            throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations, error_code
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 3:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 9 else write_array)(out, self.brokers, version)
        if version >= 2:
            (write_compact_nullable_string if version >= 9 else write_nullable_string)(out, self.cluster_id)
        if version >= 1:
            out += _pack_i(self.controller_id)
        (write_compact_array if version >= 9 else write_array)(out, self.topics, version)
        if 8 <= version <= 10:
            out += _pack_i(self.cluster_authorized_operations)
        if version >= 13:
            out += _pack_h(self.error_code)
        if version >= 9:
            out.append(0)
