"""`--set OPTION=VALUE`, sorted to whom it belongs: the session, the source, the sink, or the run itself.

`spark.*` is Spark's; `kafka.*` goes to the clients of source and sink, or to the one of the two that knows the name;
the names of Spark's `kafka` source (`startingOffsets`, `maxOffsetsPerTrigger`, ...) are the source's; the sink's are
its keyword arguments (`mode`, `transaction_timeout_ms`, ...). `source.` or `sink.` in front sends any option to that
side only, which has to know it. An unknown name is refused with the nearest one.
"""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost import settings
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.settings import ProducerSettings
from fencepost.pipelines.pipeline import Pipeline
from fencepost.settings import InvalidSetting, declarations, nearest

RUN_OPTIONS = ("trigger",)
"""`trigger=500 milliseconds`: the shortest time between two micro-batches; as fast as possible unless it is set."""

INTERVAL = re.compile(
    r"(interval\s+)?((\d+\s+(week|day|hour|minute|millisecond|microsecond)s?|\d+(\.\d{1,9})?\s+seconds?)(\s+|$))+",
    re.IGNORECASE,
)
"""What Spark understands as the time of a trigger, which may have no months."""
SERVERS = "kafka.bootstrap.servers"
JAAS_CONFIG = "kafka.sasl.jaas.config"

NOT_FOR_USERS = {
    "checkpoint": "use --checkpoint",
    "is_stateful": "it is read from the plan",
    "name": "it is the pipeline's name",
    "on_event": "the runner listens itself",
    "subscribe": "it is what the pipeline reads",
    "subscribepattern": "a pipeline names its topics in reads=",
    "assign": "a pipeline names its topics in reads=",
    "topic": "the pipeline names its topics",
    "transform": "it is the pipeline",
    "namespace": "use --namespace",
    SERVERS: f"use --bootstrap-servers; for a source on another cluster, source.{SERVERS}",
}


@dataclass(frozen=True)
class RunOptions:
    source: Mapping[str, str] = field(default_factory=dict)
    sink: Mapping[str, Any] = field(default_factory=dict)
    trigger: str | None = None

    def over(self, below: "RunOptions") -> "RunOptions":
        """These, and where they say nothing the ones below."""
        return RunOptions(
            source={**below.source, **self.source},
            sink={**below.sink, **self.sink},
            trigger=self.trigger or below.trigger,
        )


def parse_assignments(options: Iterable[str]) -> dict[str, str]:
    return settings.parse_assignments("--set", options, example="maxOffsetsPerTrigger=100000", form="OPTION=VALUE")


def session_options(given: Mapping[str, str], pipelines: Iterable[Pipeline]) -> dict[str, str]:
    """What the one session of a run is made with: `spark.*` of all its pipelines, and over them the command line's."""
    decided = {name: value for name, value in given.items() if name.startswith("spark.")}
    wanted: dict[str, tuple[str, str]] = {}
    for pipeline in pipelines:
        for name, value in pipeline.options.items():
            if not name.startswith("spark.") or name in decided:
                continue
            owner, earlier = wanted.setdefault(name, (pipeline.name, value))
            if value != earlier:
                raise InvalidSetting(
                    f"pipelines '{owner}' and '{pipeline.name}' share a Spark session and want it with "
                    f"{name}={earlier} and {name}={value}: run them apart, or decide with --set {name}=..."
                )
    return {name: value for name, (_, value) in wanted.items()} | decided


def sort_options(given: Mapping[str, str]) -> RunOptions:
    source: dict[str, str] = {}
    sink: dict[str, Any] = {}
    trigger = None
    for name, value in with_credentials(given).items():
        side, rest = split_side(name)
        if rest.startswith("spark.") and side is None:
            continue  # the session's, see `session_options`
        if rest == "trigger":
            trigger = as_trigger(value, side=side)
            continue
        names = names_at(rest, side)
        if side != "sink" and "source" in names:
            source[names["source"]] = value
        if side != "source" and "sink" in names:
            sink[names["sink"]] = as_kind(rest, value, sink_option_types().get(names["sink"], "str"))
    return RunOptions(source=source, sink=sink, trigger=trigger)


def split_side(name: str) -> tuple[str | None, str]:
    for side in ("source", "sink"):
        if name.startswith(f"{side}."):
            return side, name.removeprefix(f"{side}.")
    return None, name


def with_credentials(given: Mapping[str, str]) -> dict[str, str]:
    """User name and password instead of the Java client's one setting for both; given by themselves they win."""
    from fencepost.spark.options import kafka_options

    found: dict[str, str] = {}
    for name, value in given.items():
        side, rest = split_side(name)
        if rest.lower() == JAAS_CONFIG:
            parsed = kafka_options({SERVERS: "any:9092", JAAS_CONFIG: value}, ProducerSettings)
            prefix = f"{side}.kafka." if side else "kafka."
            found |= {prefix + keyword.replace("_", "."): text for keyword, text in parsed.settings}
    return found | {name: value for name, value in given.items() if split_side(name)[1].lower() != JAAS_CONFIG}


def names_at(name: str, side: str | None) -> dict[str, str]:
    """What an option is called at the source and at the sink. Refuses one that neither has, or not this side."""
    lower = name.lower()
    if lower in NOT_FOR_USERS and not (lower == SERVERS and side == "source"):
        raise InvalidSetting(f"option '{name}' cannot be set: {NOT_FOR_USERS[lower]}")
    if lower == SERVERS:
        return {"source": SERVERS}
    if lower.startswith("kafka."):
        at_source = {f"kafka.{one}": f"kafka.{one}" for one in declarations(ConsumerSettings)}
        at_sink = {f"kafka.{one}": declared.field_name for one, declared in declarations(ProducerSettings).items()}
        hint, key = "", lower
    else:
        at_source = {one.lower(): one for one in source_option_names()}
        at_sink = {one: one for one in sink_option_types() if one not in NOT_FOR_USERS}
        hint, key = "; Spark's own begin with spark., the clients' with kafka.", name.replace(".", "_")
    names = {"source": at_source.get(lower), "sink": at_sink.get(key)}
    found = {owner: known for owner, known in names.items() if known is not None}
    if not found:
        known_names = [*at_source.values(), *at_sink, *RUN_OPTIONS] if hint else [*at_source, *at_sink]
        raise InvalidSetting(f"unknown option '{name}'{nearest(name, known_names)}{hint}")
    if side is not None and side not in found:
        raise InvalidSetting(
            f"option '{side}.{name}' cannot be set: it is the {next(iter(found))}'s only; leave '{side}.' out"
        )
    return found


def check_source(options: RunOptions, *, topics: Iterable[str], bootstrap_servers: str) -> None:
    """What the source would refuse when its stream is made, before anything is started."""
    from fencepost.spark.source.options import source_options, stream_start

    given = {SERVERS: bootstrap_servers, **options.source, "subscribe": ",".join(topics)}
    stream_start(source_options(given))


def source_option_names() -> list[str]:
    from fencepost.spark.source.options import MEANINGFUL, WITHOUT_EFFECT

    return [*MEANINGFUL, *WITHOUT_EFFECT]


def sink_option_types() -> dict[str, str]:
    """The sink's keyword arguments and the annotation of each."""
    from fencepost.spark.sink.transactional_sink import TransactionalSink

    parameters = inspect.signature(TransactionalSink).parameters.values()
    return {one.name: str(one.annotation) for one in parameters if one.kind is one.KEYWORD_ONLY}


def as_kind(name: str, value: str, annotation: str) -> Any:
    """A whole number where the sink takes one; the sink itself checks words."""
    if "int" not in annotation:
        return value
    try:
        return int(value)
    except ValueError:
        raise InvalidSetting(f"option '{name}' is '{value}'; expected a whole number") from None


def as_trigger(value: str, *, side: str | None) -> str:
    if side is not None:
        raise InvalidSetting(f"option '{side}.trigger' cannot be set: a trigger is the query's; leave '{side}.' out")
    if INTERVAL.fullmatch(value.strip()) is None:
        raise InvalidSetting(
            f"option 'trigger' is '{value}'; expected a number and a unit, such as 500 milliseconds, 1 second or "
            "2 minutes"
        )
    return value
