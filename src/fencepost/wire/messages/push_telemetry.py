"""PushTelemetry, API key 72, versions 0 to 0.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import ZERO_UUID, Data, read_compact_bytes, read_uuid, skip_tags
from fencepost.wire.writing import write_compact_bytes

_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_iob = Struct(">i?b").unpack_from
_pack_iob = Struct(">i?b").pack


@dataclass(slots=True)
class PushTelemetryRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    client_instance_id: UUID = ZERO_UUID
    subscription_id: int = 0
    terminating: bool = False
    compression_type: int = 0
    metrics: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PushTelemetryRequest, int]":
        client_instance_id, at = read_uuid(data, at)
        subscription_id, terminating, compression_type = _read_iob(data, at)
        at += 6
        metrics, at = read_compact_bytes(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PushTelemetryRequest(client_instance_id, subscription_id, terminating, compression_type, metrics), at

    def write(self, out: Output, version: int) -> None:
        out += self.client_instance_id.bytes
        out += _pack_iob(self.subscription_id, self.terminating, self.compression_type)
        write_compact_bytes(out, self.metrics)
        out.append(0)


@dataclass(slots=True)
class PushTelemetryResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PushTelemetryResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PushTelemetryResponse(throttle_time_ms, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        out.append(0)
