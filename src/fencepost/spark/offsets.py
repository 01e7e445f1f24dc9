"""The source's offset: where the next micro-batch begins, in every partition of every topic.

It is what Spark writes into its offset log, as JSON: `{"fencepost": 1, "cluster": "<cluster id>", "topics":
{"purchases": {"id": "<topic id>", "partitions": {"0": 42, "1": 17}}}}`. Topic ids tell a topic from a later one of
the same name, the cluster id one cluster from another. Offsets of Spark's own `kafka` source (`{"purchases": {"0":
42}}`) can be read too; they carry no ids.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from fencepost.errors import FencepostError
from fencepost.types import NO_TOPIC_ID, TopicPartition

FORMAT = "fencepost"
FORMAT_VERSION = 1

OffsetJson = dict[str, Any]


class InvalidSourceOffset(FencepostError):  # noqa: N818 - it names a state of the input
    """An offset that looks like ours and cannot be read."""


@dataclass(frozen=True)
class SourceOffsets:
    """The next offset of each partition. Ids are there where the cluster, and what wrote this, knows them."""

    positions: Mapping[TopicPartition, int]
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    cluster_id: str | None = None

    def topic_id(self, topic: str) -> UUID:
        return self.topic_ids.get(topic, NO_TOPIC_ID)

    @property
    def topics(self) -> list[str]:
        return sorted({topic_partition.topic for topic_partition in self.positions})

    def at(self, positions: Mapping[TopicPartition, int]) -> "SourceOffsets":
        """Other positions, of the same topics of the same cluster."""
        return SourceOffsets(positions, self.topic_ids, self.cluster_id)

    def to_json(self) -> OffsetJson:
        """The same value gives the same text: topics by name, partitions by number."""
        topics: dict[str, dict[str, Any]] = {}
        for (topic, partition), offset in sorted(self.positions.items()):
            row = topics.setdefault(topic, {"id": str(self.topic_id(topic)), "partitions": {}})
            row["partitions"][str(partition)] = offset
        return {FORMAT: FORMAT_VERSION, "cluster": self.cluster_id, "topics": topics}


def source_offsets(json_text: str) -> SourceOffsets | None:
    """The offset in a line of Spark's offset log; None if neither our source nor Spark's `kafka` source wrote it."""
    try:
        value = json.loads(json_text)
    except ValueError:
        return None
    return from_json(value) if isinstance(value, dict) else None


def from_json(value: OffsetJson) -> SourceOffsets | None:
    """The same for JSON that is parsed already."""
    if FORMAT not in value:
        return _of_kafka_source(value)
    if value[FORMAT] != FORMAT_VERSION:
        raise InvalidSourceOffset(
            f"an offset of format {value[FORMAT]} cannot be read: this version of Fencepost knows {FORMAT_VERSION}; "
            "start the query with the version that wrote its checkpoint, or a later one"
        )
    try:
        topics = value["topics"]
        return SourceOffsets(
            positions=_positions({topic: row["partitions"] for topic, row in topics.items()}),
            topic_ids={topic: UUID(row["id"]) for topic, row in topics.items()},
            cluster_id=value["cluster"],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise InvalidSourceOffset(f"an offset in the checkpoint cannot be read: {problem!r} in {value}") from problem


def _of_kafka_source(value: OffsetJson) -> SourceOffsets | None:
    is_kafka = bool(value) and all(
        isinstance(partitions, dict)
        and partitions
        and all(index.isdecimal() and type(offset) is int for index, offset in partitions.items())
        for partitions in value.values()
    )
    return SourceOffsets(_positions(value)) if is_kafka else None


def _positions(topics: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic, int(index)): int(offset)
        for topic, partitions in topics.items()
        for index, offset in partitions.items()
    }
