"""The options of `format("fencepost")`: those of Spark's `kafka` source, with the same names and meanings.

Everything is checked when the DataFrame is made, before anything is asked of a cluster. What differs from Spark: the
isolation level is `read_committed` unless set otherwise, and an unknown option is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.spark.options import InvalidOption, KafkaOptions, kafka_options, own_options
from fencepost.spark.source.choices import EARLIEST, LATEST, OffsetChoice, TopicChoice, offset_choice, topic_choice

MEANINGFUL = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "startingTimestamp",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
)
WITHOUT_EFFECT = (
    "groupIdPrefix",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
)
"""Of Spark's source: there are no groups here, and the client retries by its own settings (default.api.timeout.ms)."""
WITHOUT_EFFECT_KAFKA = ("group.id",)
REFUSED_KAFKA = {
    "auto.offset.reset": "where to begin is said by startingOffsets, and afterwards by the checkpoint",
    "enable.auto.commit": "the checkpoint says how far a query has come; a sink may commit offsets too",
    "fetch.min.bytes": "a task reads what is there already, it never waits for more",
}
DEFAULTS = {"max_partition_fetch_bytes": str(2 * 1024 * 1024), "client_id": "fencepost-spark-source"}
DEFAULT_TRIGGER_DELAY = "15m"
_UNITS_MS = {"": 1, "us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class SourceOptions:
    kafka: KafkaOptions
    topics: TopicChoice
    start: OffsetChoice | None
    end: OffsetChoice | None
    starts_at_latest_without_match: bool
    """What `startingOffsetsByTimestampStrategy` says of a partition that has nothing at or after the time."""
    fail_on_data_loss: bool
    include_headers: bool
    max_offsets_per_trigger: int | None
    min_offsets_per_trigger: int | None
    max_trigger_delay_ms: int
    min_partitions: int | None
    max_records_per_partition: int | None


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """The options, or `InvalidOption` for what is wrong with them whichever kind of query they are for."""
    own = own_options(options, (*MEANINGFUL, *WITHOUT_EFFECT))
    found = SourceOptions(
        kafka=kafka_options(
            options, ConsumerSettings, refused=REFUSED_KAFKA, ignored=WITHOUT_EFFECT_KAFKA, defaults=DEFAULTS
        ),
        topics=topic_choice(own),
        start=offset_choice(own, "starting"),
        end=offset_choice(own, "ending"),
        starts_at_latest_without_match=_strategy(own.get("startingoffsetsbytimestampstrategy", "error")),
        fail_on_data_loss=_boolean(own, "failOnDataLoss", default=True),
        include_headers=_boolean(own, "includeHeaders", default=False),
        max_offsets_per_trigger=_positive(own, "maxOffsetsPerTrigger"),
        min_offsets_per_trigger=_positive(own, "minOffsetsPerTrigger"),
        max_trigger_delay_ms=_duration_ms("maxTriggerDelay", own.get("maxtriggerdelay", DEFAULT_TRIGGER_DELAY)),
        min_partitions=_positive(own, "minPartitions"),
        max_records_per_partition=_positive(own, "maxRecordsPerPartition"),
    )
    least, most = found.min_offsets_per_trigger, found.max_offsets_per_trigger
    if least is not None and most is not None and least > most:
        raise InvalidOption(f"minOffsetsPerTrigger={least} is more than maxOffsetsPerTrigger={most}: lower the first")
    return found


def stream_start(options: SourceOptions) -> OffsetChoice:
    """Where a streaming query begins; refuses options that only a batch query can have."""
    if options.end is not None:
        raise InvalidOption(f"option '{options.end.option}' is for batch queries: a stream has no end; leave it out")
    return options.start or OffsetChoice("startingOffsets", everywhere=LATEST)


def batch_bounds(options: SourceOptions) -> tuple[OffsetChoice, OffsetChoice]:
    """Where a batch query begins and ends."""
    start = options.start or OffsetChoice("startingOffsets", everywhere=EARLIEST)
    end = options.end or OffsetChoice("endingOffsets", everywhere=LATEST)
    if LATEST in start.special_offsets:
        raise InvalidOption(f"option '{start.option}' is latest (-1): a batch query would read nothing")
    if EARLIEST in end.special_offsets:
        raise InvalidOption(f"option '{end.option}' is earliest (-2): a batch query would read nothing")
    for topic_partition, first in (start.offsets or {}).items():
        last = (end.offsets or {}).get(topic_partition, LATEST)
        if last != LATEST and first > last:
            raise InvalidOption(
                f"option '{start.option}' begins {topic_partition} at offset {first}, behind its end {last} in "
                f"'{end.option}': exchange them, or correct one"
            )
    return start, end


def _strategy(text: str) -> bool:
    if text.lower() not in ("error", "latest"):
        raise InvalidOption(f"option 'startingOffsetsByTimestampStrategy' is '{text}': expected error or latest")
    return text.lower() == "latest"


def _boolean(own: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = own.get(name.lower(), str(default)).strip().lower()
    if text not in ("true", "false"):
        raise InvalidOption(f"option '{name}' is '{text}': expected true or false")
    return text == "true"


def _positive(own: Mapping[str, str], name: str) -> int | None:
    text = own.get(name.lower())
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise InvalidOption(f"option '{name}' is '{text}': expected a whole number of at least 1")
    return int(text)


def _duration_ms(name: str, text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if match is None or match[2] not in _UNITS_MS:
        units = ", ".join(unit for unit in _UNITS_MS if unit)
        raise InvalidOption(f"option '{name}' is '{text}': expected a number and a unit of {units}, such as 15m")
    return int(int(match[1]) * _UNITS_MS[match[2]])
