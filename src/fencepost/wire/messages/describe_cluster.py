"""DescribeCluster, API key 60, versions 0 to 2.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_compact_array,
    read_compact_nullable_string,
    read_compact_string,
    skip_tags,
)
from fencepost.wire.writing import write_compact_array, write_compact_nullable_string, write_compact_string

_read_b = Struct(">b").unpack_from
_pack_b = Struct(">b").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_o = Struct(">?").unpack_from
_pack_o = Struct(">?").pack
_read_obo = Struct(">?b?").unpack_from
_pack_obo = Struct(">?b?").pack


@dataclass(slots=True)
class DescribeClusterRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1  # v1+
    include_fenced_brokers: bool = False  # v2+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeClusterRequest, int]":
        if version >= 2:
            include_cluster_authorized_operations, endpoint_type, include_fenced_brokers = _read_obo(data, at)
            at += 3
        else:
            include_cluster_authorized_operations = _read_o(data, at)[0]
            at += 1
            endpoint_type = 1
            if version >= 1:
                endpoint_type = _read_b(data, at)[0]
                at += 1
            include_fenced_brokers = False
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type, include_fenced_brokers), at

    def write(self, out: Output, version: int) -> None:
        if version >= 2:
            out += _pack_obo(
                self.include_cluster_authorized_operations, self.endpoint_type, self.include_fenced_brokers
            )
        else:
            out += _pack_o(self.include_cluster_authorized_operations)
            if version >= 1:
                out += _pack_b(self.endpoint_type)
        out.append(0)


@dataclass(slots=True)
class DescribeClusterBroker:
    broker_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
    is_fenced: bool = False  # v2+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeClusterBroker, int]":
        broker_id = _read_i(data, at)[0]
        at += 4
        host, at = read_compact_string(data, at)
        port = _read_i(data, at)[0]
        at += 4
        rack, at = read_compact_nullable_string(data, at)
        is_fenced: bool = False
        if version >= 2:
            is_fenced = _read_o(data, at)[0]
            at += 1
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeClusterBroker(broker_id, host, port, rack, is_fenced), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.broker_id)
        write_compact_string(out, self.host)
        out += _pack_i(self.port)
        write_compact_nullable_string(out, self.rack)
        if version >= 2:
            out += _pack_o(self.is_fenced)
        out.append(0)


@dataclass(slots=True)
class DescribeClusterResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    endpoint_type: int = 1  # v1+
    cluster_id: str = ""
    controller_id: int = -1
    brokers: list[DescribeClusterBroker] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeClusterResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        endpoint_type: int = 1
        if version >= 1:
            endpoint_type = _read_b(data, at)[0]
            at += 1
        cluster_id, at = read_compact_string(data, at)
        controller_id = _read_i(data, at)[0]
        at += 4
        brokers, at = read_compact_array(data, at, version, DescribeClusterBroker.read, 11)
        cluster_authorized_operations = _read_i(data, at)[0]
        at += 4
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeClusterResponse(
            throttle_time_ms,
            error_code,
            error_message,
            endpoint_type,
            cluster_id,
            controller_id,
            brokers,
            cluster_authorized_operations,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        if version >= 1:
            out += _pack_b(self.endpoint_type)
        write_compact_string(out, self.cluster_id)
        out += _pack_i(self.controller_id)
        write_compact_array(out, self.brokers, version)
        out += _pack_i(self.cluster_authorized_operations)
        out.append(0)
