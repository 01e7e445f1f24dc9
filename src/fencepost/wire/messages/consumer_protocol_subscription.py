"""ConsumerProtocolSubscription, versions 0 to 3.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import ConsumerProtocolRecord, Output
from fencepost.wire.reading import (
    Data,
    read_array,
    read_integers,
    read_nullable_bytes,
    read_nullable_string,
    read_string,
    read_strings,
)
from fencepost.wire.writing import (
    write_array,
    write_integers,
    write_nullable_bytes,
    write_nullable_string,
    write_string,
    write_strings,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack


@dataclass(slots=True)
class TopicPartition:
    topic: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicPartition, int]":
        topic, at = read_string(data, at)
        partitions, at = read_integers(data, at, "i", 4)
        return TopicPartition(topic, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.topic)
        write_integers(out, self.partitions, "i")


@dataclass(slots=True)
class ConsumerProtocolSubscription(ConsumerProtocolRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3

    topics: list[str] = field(default_factory=list)
    user_data: bytes | None = None
    owned_partitions: list[TopicPartition] = field(default_factory=list)  # v1+
    generation_id: int = -1  # v2+
    rack_id: str | None = None  # v3+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerProtocolSubscription, int]":
        topics, at = read_strings(data, at)
        user_data, at = read_nullable_bytes(data, at)
        owned_partitions: list[TopicPartition] = []
        if version >= 1:
            owned_partitions, at = read_array(data, at, version, TopicPartition.read, 6)
        generation_id: int = -1
        if version >= 2:
            generation_id = _read_i(data, at)[0]
            at += 4
        rack_id: str | None = None
        if version >= 3:
            rack_id, at = read_nullable_string(data, at)
        return ConsumerProtocolSubscription(topics, user_data, owned_partitions, generation_id, rack_id), at

    def write(self, out: Output, version: int) -> None:
        write_strings(out, self.topics)
        write_nullable_bytes(out, self.user_data)
        if version >= 1:
            write_array(out, self.owned_partitions, version)
        if version >= 2:
            out += _pack_i(self.generation_id)
        if version >= 3:
            write_nullable_string(out, self.rack_id)
