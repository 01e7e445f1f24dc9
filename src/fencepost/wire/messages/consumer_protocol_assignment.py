"""ConsumerProtocolAssignment, versions 0 to 3.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from typing import ClassVar

from fencepost.wire.message import ConsumerProtocolRecord, Output
from fencepost.wire.reading import Data, read_array, read_integers, read_nullable_bytes, read_string
from fencepost.wire.writing import write_array, write_integers, write_nullable_bytes, write_string


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
class ConsumerProtocolAssignment(ConsumerProtocolRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3

    assigned_partitions: list[TopicPartition] = field(default_factory=list)
    user_data: bytes | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ConsumerProtocolAssignment, int]":
        assigned_partitions, at = read_array(data, at, version, TopicPartition.read, 6)
        user_data, at = read_nullable_bytes(data, at)
        return ConsumerProtocolAssignment(assigned_partitions, user_data), at

    def write(self, out: Output, version: int) -> None:
        write_array(out, self.assigned_partitions, version)
        write_nullable_bytes(out, self.user_data)
