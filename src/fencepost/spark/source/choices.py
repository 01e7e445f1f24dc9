"""Which topics are read, and from where to where, as Spark's options say it. Values only; nothing asks a cluster here.

`subscribe`, `subscribePattern` and `assign` choose partitions; offsets are chosen by `earliest` and `latest`, by JSON
(`{"purchases": {"0": 42, "1": -2}}`, where -2 is the earliest and -1 the latest), or by time.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from fencepost.spark.options import InvalidOption
from fencepost.types import TopicPartition

EARLIEST, LATEST = EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
"""-2 and -1, the same numbers in offsets of Spark's options and in times of Kafka's ListOffsets."""
NAMED_OFFSETS = {"earliest": EARLIEST, "latest": LATEST}
OWN_TOPICS = "__fencepost_"
"""Topics that pipelines keep for themselves begin like this; a pattern passes them over, as it does internal ones."""


@dataclass(frozen=True)
class TopicChoice:
    """Exactly one of the three is there."""

    names: tuple[str, ...] | None = None
    pattern: str | None = None
    assigned: tuple[TopicPartition, ...] | None = None

    @property
    def fixed_names(self) -> list[str] | None:
        """The topics that must be there; None for a pattern, which takes what there is."""
        if self.assigned is not None:
            return sorted({topic_partition.topic for topic_partition in self.assigned})
        return None if self.names is None else list(self.names)

    def has_topic(self, topic: str) -> bool:
        if self.pattern is None:
            return topic in (self.fixed_names or ())
        return not topic.startswith(OWN_TOPICS) and re.fullmatch(self.pattern, topic) is not None

    def partitions(self, topics: Mapping[str, TopicMetadata]) -> list[TopicPartition]:
        """Those of `topics` that are chosen, in order."""
        if self.assigned is not None:
            return sorted(self.assigned)
        return [
            TopicPartition(name, index)
            for name, topic in sorted(topics.items())
            if self.has_topic(name) and not (self.pattern is not None and topic.is_internal)
            for index in sorted(topic.partitions)
        ]


def topic_choice(options: Mapping[str, str]) -> TopicChoice:
    given = [name for name in ("subscribe", "subscribepattern", "assign") if name in options]
    if len(given) != 1:
        found = "none of them is given" if not given else f"{' and '.join(given)} are given"
        raise InvalidOption(f"exactly one of subscribe, subscribePattern and assign says what to read, but {found}")
    if "assign" in options:
        return TopicChoice(assigned=_assigned(options["assign"]))
    if "subscribepattern" in options:
        return TopicChoice(pattern=_pattern(options["subscribepattern"].strip()))
    names = tuple(dict.fromkeys(name.strip() for name in options["subscribe"].split(",") if name.strip()))
    if not names:
        raise InvalidOption("option 'subscribe' is empty: expected names of topics with commas between them")
    return TopicChoice(names=names)


@dataclass(frozen=True)
class OffsetChoice:
    """One place in each partition. `option` is the option that says so, for messages."""

    option: str
    everywhere: int = EARLIEST
    """EARLIEST or LATEST, unless one of the others is there."""
    offsets: Mapping[TopicPartition, int] | None = None
    timestamps_ms: Mapping[TopicPartition, int] | int | None = None

    @property
    def named(self) -> set[TopicPartition] | None:
        """The partitions that are spelled out; None if the choice holds for any partition."""
        spelled = self.offsets if self.offsets is not None else self.timestamps_ms
        return set(spelled) if isinstance(spelled, Mapping) else None

    @property
    def special_offsets(self) -> set[int]:
        """EARLIEST, LATEST or both, where they are asked for in any partition."""
        if self.timestamps_ms is not None:
            return set()
        return {self.everywhere} if self.offsets is None else {EARLIEST, LATEST} & set(self.offsets.values())


def offset_choice(options: Mapping[str, str], which: str) -> OffsetChoice | None:
    """`which` is starting or ending. A time for all partitions goes before times for each, and those before offsets."""
    timestamp, by_timestamp, offsets = f"{which}Timestamp", f"{which}OffsetsByTimestamp", f"{which}Offsets"
    if text := options.get(timestamp.lower()):
        return OffsetChoice(timestamp, timestamps_ms=_number(timestamp, text, minimum=0))
    if text := options.get(by_timestamp.lower()):
        return OffsetChoice(by_timestamp, timestamps_ms=_by_partition(by_timestamp, text, minimum=0))
    if text := options.get(offsets.lower()):
        if text.strip().lower() in NAMED_OFFSETS:
            return OffsetChoice(offsets, everywhere=NAMED_OFFSETS[text.strip().lower()])
        return OffsetChoice(offsets, offsets=_by_partition(offsets, text, minimum=EARLIEST))
    return None


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as problem:
        raise InvalidOption(
            f"option 'subscribePattern' is '{text}', which is no regular expression: {problem}"
        ) from None
    return text


def _assigned(text: str) -> tuple[TopicPartition, ...]:
    value = _json(text)
    try:
        chosen = {TopicPartition(topic, _index(index)) for topic, indexes in value.items() for index in list(indexes)}
    except (TypeError, ValueError, AttributeError):
        chosen = set()
    if not chosen:
        raise InvalidOption(f"option 'assign' is '{text}': expected JSON such as {{\"purchases\": [0, 1]}}")
    return tuple(sorted(chosen))


def _by_partition(option: str, text: str, *, minimum: int) -> dict[TopicPartition, int]:
    value = _json(text)
    try:
        found = {
            TopicPartition(topic, _index(index)): _number(option, str(number), minimum=minimum)
            for topic, numbers in value.items()
            for index, number in numbers.items()
        }
    except (TypeError, ValueError, AttributeError):
        found = {}
    if not found:
        kind = "offset, -2 for the earliest and -1 for the latest" if minimum < 0 else "time in milliseconds"
        raise InvalidOption(
            f"option '{option}' is '{text}': expected JSON such as {{\"purchases\": {{\"0\": 42}}}}, for each "
            f"partition its {kind}{'; or earliest, or latest' if minimum < 0 else ''}"
        )
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _index(value: object) -> int:
    index = int(str(value))
    if index < 0:
        raise ValueError(value)
    return index


def _number(option: str, text: str, *, minimum: int) -> int:
    try:
        number = int(text.strip())
    except ValueError:
        raise InvalidOption(f"option '{option}' has '{text}': expected a whole number") from None
    if number < minimum:
        raise InvalidOption(f"option '{option}' has {number}: expected at least {minimum}")
    return number
