"""What people type: moments, durations, places in a partition, and names that a shell completes."""

import os
import re
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple, TypeVar

import click
from click.shell_completion import CompletionItem

from fencepost.cli.options import DEFAULT_SERVERS, SERVERS_VARIABLE
from fencepost.client.admin.admin import Admin
from fencepost.errors import FencepostError
from fencepost.types import NO_OFFSET, TopicPartition

COMPLETION_TIMEOUT_MS = 1000

T = TypeVar("T")


class ParsedType(click.ParamType[T]):
    """The type of an argument or option that `parse` reads."""

    def __init__(self, name: str, parse: Callable[[str], T]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: T | str, param: click.Parameter | None, ctx: click.Context | None) -> T:
        return self._parse(value) if isinstance(value, str) else value


# Names that a shell completes by asking the cluster: topics, groups, transactional ids. None if it does not answer.


Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completing(names_of: Callable[[Admin], Iterable[str]]) -> Complete:
    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        servers = ctx.params.get("bootstrap_servers") or os.environ.get(SERVERS_VARIABLE) or DEFAULT_SERVERS
        try:
            with Admin(
                servers,
                request_timeout_ms=COMPLETION_TIMEOUT_MS,
                socket_connection_setup_timeout_ms=COMPLETION_TIMEOUT_MS,
            ) as admin:
                return [CompletionItem(name) for name in names_of(admin) if name.startswith(incomplete)]
        except FencepostError:
            return []

    return complete


complete_topics = _completing(lambda admin: admin.describe_topics())
complete_groups = _completing(lambda admin: (group.group_id for group in admin.list_groups()))
complete_transactional_ids = _completing(lambda admin: (row.transactional_id for row in admin.list_transactions()))


# Times as people write and read them: local time with milliseconds, durations in two units, "10m" for 10 min ago.


UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def format_moment(at_ms: int) -> str:
    """`2026-11-15 09:43:53.120` in local time; a dash for no time at all."""
    if at_ms < 0:
        return "-"
    moment = _local(at_ms)
    return f"{at_ms} ms" if moment is None else moment.replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds")


def format_clock(at_ms: int) -> str:
    """The time of day alone."""
    return format_moment(at_ms).rpartition(" ")[2] if at_ms >= 0 else "-"


def iso_moment(at_ms: int) -> str | None:
    """For JSON: ISO 8601 with the offset from UTC; None for no time at all."""
    moment = _local(at_ms) if at_ms >= 0 else None
    return None if moment is None else moment.isoformat(timespec="milliseconds")


def _local(at_ms: int) -> datetime | None:
    """None for a number that is no time: records may carry any."""
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def format_duration(duration_ms: int) -> str:
    """The two largest units: `2 h 5 min`."""
    if duration_ms < 1000:
        return f"{duration_ms} ms"
    seconds = duration_ms // 1000
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    if seconds < 86_400:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"


def parse_duration_ms(text: str) -> int:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"'{text}' is no duration: expected a number and ms, s, m, h or d, for example 10m")
    return int(match[1]) * UNITS_MS[match[2]]


def parse_moment_ms(text: str) -> int | None:
    """`2026-11-15T09:00` (local unless it says otherwise), `10m` (ago), `@1731663833000` (ms); None: none of them."""
    if _DURATION.fullmatch(text):
        return now_ms() - parse_duration_ms(text)
    if text.startswith("@") and text[1:].isdigit():
        return int(text[1:])
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None


DURATION = ParsedType("duration", parse_duration_ms)


# Places in a partition as people give them, and the offsets that they mean at this moment.
#
# `earliest`, `latest`, an offset, `-10` (ten offsets before the end), or a time. What is outside of a partition is
# moved to its nearest end.


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


def parse_topic_partition(text: str) -> TopicPartition:
    """TOPIC-PARTITION, as Kafka names folders: the part after the last dash is the partition."""
    topic, _, partition = text.rpartition("-")
    if not topic or not partition.isdigit():
        raise click.BadParameter(f"'{text}' is not TOPIC-PARTITION, for example orders-0")
    return TopicPartition(topic, int(partition))


PLACE = ParsedType("place", parse_place)
TOPIC_PARTITION = ParsedType("topic-partition", parse_topic_partition)


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
        return {each: ends[each] if at[each] == NO_OFFSET else min(at[each], ends[each]) for each in wanted}
    asked = {each: place.number if place.kind is PlaceKind.OFFSET else ends[each] - place.number for each in wanted}
    return {each: max(starts[each], min(offset, ends[each])) for each, offset in asked.items()}


def partitions_of(admin: Admin, topic: str, chosen: Iterable[int] = ()) -> list[TopicPartition]:
    """The partitions of a topic, or the chosen ones of them."""
    there = sorted(admin.describe_topics([topic])[topic].partitions)
    wanted = list(chosen) or there
    for index in wanted:
        if index not in there:
            raise click.BadParameter(f"'{topic}' has partitions 0 to {len(there) - 1}, there is no {index}")
    return [TopicPartition(topic, index) for index in wanted]
