"""GetTelemetrySubscriptions, API key 71, versions 0 to 0.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import ZERO_UUID, Data, read_compact_integers, read_compact_strings, read_uuid, skip_tags
from fencepost.wire.writing import write_compact_integers, write_compact_strings

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_iio = Struct(">ii?").unpack_from
_pack_iio = Struct(">ii?").pack


@dataclass(slots=True)
class GetTelemetrySubscriptionsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    client_instance_id: UUID = ZERO_UUID

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[GetTelemetrySubscriptionsRequest, int]":
        client_instance_id, at = read_uuid(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return GetTelemetrySubscriptionsRequest(client_instance_id), at

    def write(self, out: Output, version: int) -> None:
        out += self.client_instance_id.bytes
        out.append(0)


@dataclass(slots=True)
class GetTelemetrySubscriptionsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    client_instance_id: UUID = ZERO_UUID
    subscription_id: int = 0
    accepted_compression_types: list[int] = field(default_factory=list)
    push_interval_ms: int = 0
    telemetry_max_bytes: int = 0
    delta_temporality: bool = False
    requested_metrics: list[str] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[GetTelemetrySubscriptionsResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        client_instance_id, at = read_uuid(data, at)
        subscription_id = _read_i(data, at)[0]
        at += 4
        accepted_compression_types, at = read_compact_integers(data, at, "b", 1)
        push_interval_ms, telemetry_max_bytes, delta_temporality = _read_iio(data, at)
        at += 9
        requested_metrics, at = read_compact_strings(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return GetTelemetrySubscriptionsResponse(
            throttle_time_ms,
            error_code,
            client_instance_id,
            subscription_id,
            accepted_compression_types,
            push_interval_ms,
            telemetry_max_bytes,
            delta_temporality,
            requested_metrics,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        out += self.client_instance_id.bytes
        out += _pack_i(self.subscription_id)
        write_compact_integers(out, self.accepted_compression_types, "b")
        out += _pack_iio(self.push_interval_ms, self.telemetry_max_bytes, self.delta_temporality)
        write_compact_strings(out, self.requested_metrics)
        out.append(0)
