"""Where in a partition: words for offsets that people give, and the offsets that they mean there at this moment.

`earliest`, `latest`, an offset, `-10` (ten offsets before the end), or a time as `moments.py` reads it. What is outside
of a partition is moved to its nearest end.
"""

import re
from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

import click

from fencepost.cli.moments import parse_moment_ms
from fencepost.client.admin import Admin
from fencepost.types import NO_OFFSET, TopicPartition

EXPECTED = "earliest, latest, an offset, -N (N before the end), a time (2026-11-15T09:00) or a duration ago (10m)"


class PlaceKind(Enum):
    EARLIEST = auto()
    LATEST = auto()
    OFFSET = auto()
    BEFORE_END = auto()
    TIME = auto()


class Place(NamedTuple):
    kind: PlaceKind
    number: int = 0


def parse_place(text: str) -> Place:
    if text in ("earliest", "latest"):
        return Place(PlaceKind[text.upper()])
    if text.isdigit():
        return Place(PlaceKind.OFFSET, int(text))
    if re.fullmatch(r"-\d+", text):
        return Place(PlaceKind.BEFORE_END, int(text[1:]))
    at_ms = parse_moment_ms(text)
    if at_ms is None:
        raise click.BadParameter(f"'{text}' is no place in a partition: expected {EXPECTED}")
    return Place(PlaceKind.TIME, at_ms)


class PlaceType(click.ParamType[Place]):
    name = "place"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Place:
        return value if isinstance(value, Place) else parse_place(str(value))


class TopicPartitionType(click.ParamType[TopicPartition]):
    """TOPIC-PARTITION, as Kafka names folders: the part after the last dash is the partition."""

    name = "topic-partition"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> TopicPartition:
        if isinstance(value, TopicPartition):
            return value
        topic, dash, partition = str(value).rpartition("-")
        if not dash or not topic or not partition.isdigit():
            raise click.BadParameter(f"'{value}' is not TOPIC-PARTITION, for example orders-0")
        return TopicPartition(topic, int(partition))


def resolve(
    admin: Admin, partitions: Iterable[TopicPartition], place: Place, *, read_committed: bool
) -> dict[TopicPartition, int]:
    """Offsets, each within its partition. With `read_committed` a partition ends at its last stable offset."""
    wanted = list(partitions)
    starts = admin.earliest_offsets(wanted)
    ends = admin.latest_offsets(wanted, read_committed=read_committed)
    if place.kind is PlaceKind.EARLIEST:
        return starts
    if place.kind is PlaceKind.LATEST:
        return ends
    if place.kind is PlaceKind.TIME:
        at = admin.offsets_at(wanted, place.number)
        return {where: ends[where] if at[where] == NO_OFFSET else min(at[where], ends[where]) for where in wanted}
    asked = {where: place.number if place.kind is PlaceKind.OFFSET else ends[where] - place.number for where in wanted}
    return {where: max(starts[where], min(offset, ends[where])) for where, offset in asked.items()}


def partitions_of(admin: Admin, topic: str, chosen: Iterable[int] = ()) -> list[TopicPartition]:
    """The partitions of a topic, or the chosen ones of them."""
    there = sorted(admin.describe_topics([topic])[topic].partitions)
    wanted = list(chosen) or there
    for index in wanted:
        if index not in there:
            raise click.BadParameter(f"'{topic}' has partitions 0 to {len(there) - 1}, there is no {index}")
    return [TopicPartition(topic, index) for index in wanted]
