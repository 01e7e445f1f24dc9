"""A pipeline as a value: its name, the topics it reads and writes, and one pure function between them.

The function takes one DataFrame per topic that is read, in their order, with the columns of the source (key, value,
topic, partition, offset, timestamp, ...), and returns a dict of topic -> DataFrame with `key` and `value` (and
optionally `partition`, `headers`, `timestamp`); or one DataFrame that carries a `topic` column. It is called when the
query is planned and, while it keeps no state, again for every micro-batch: it must not do anything but build
DataFrames.

The name is the identity of the pipeline on the cluster: its transactional id, its ledger and its consumer group are
made of it.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fencepost.errors import FencepostError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME_LENGTH_MAX = 100
TOPIC_LENGTH_MAX = 249
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
OUTPUT_MODES = ("append", "update", "complete")

Outputs = Mapping[str, "DataFrame"]


class InvalidPipeline(FencepostError):  # noqa: N818 - it names a state of the input
    """A pipeline, or a file of pipelines, that cannot run: what is wrong, and what would be right."""


@dataclass(frozen=True)
class Pipeline:
    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    function: Callable[..., Any]
    output_mode: str = "append"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name(self.name)
        check_topics(self)
        check_function(self)
        if self.output_mode not in OUTPUT_MODES:
            raise InvalidPipeline(
                f"pipeline '{self.name}': output_mode is '{self.output_mode}'; Spark knows {', '.join(OUTPUT_MODES)}"
            )

    def __call__(self, *inputs: "DataFrame") -> "Outputs | DataFrame":
        """The function itself, on any DataFrames: how a test calls it."""
        result: Outputs | DataFrame = self.function(*inputs)
        return result

    def outputs(self, inputs: Sequence["DataFrame"]) -> "dict[str, DataFrame] | DataFrame":
        """What the function makes of the inputs, checked: every written topic and no other, in the declared order."""
        result = self.function(*inputs)
        if isinstance(result, Mapping):
            return self._checked(result)
        if not hasattr(result, "columns"):
            raise InvalidPipeline(
                f"pipeline '{self.name}' returned {type(result).__name__}; expected a dict of topic -> DataFrame, "
                "or a DataFrame with a 'topic' column"
            )
        if "topic" in result.columns:
            frame: DataFrame = result
            return frame
        if len(self.writes) == 1:
            return {self.writes[0]: result}
        raise InvalidPipeline(
            f"pipeline '{self.name}' writes {listed(self.writes)} and returned one DataFrame without a 'topic' column: "
            "return a dict of topic -> DataFrame, or add the column"
        )

    def _checked(self, result: Mapping[str, "DataFrame"]) -> dict[str, "DataFrame"]:
        missing = [topic for topic in self.writes if topic not in result]
        unknown = [topic for topic in result if topic not in self.writes]
        if missing or unknown:
            raise InvalidPipeline(
                f"pipeline '{self.name}' writes {listed(self.writes)}, but its function returned "
                f"{listed(result) or 'nothing'}: make `writes` and the returned dict name the same topics"
            )
        for topic in self.writes:
            if not hasattr(result[topic], "columns"):
                raise InvalidPipeline(
                    f"pipeline '{self.name}' returned {type(result[topic]).__name__} for topic '{topic}'; "
                    "expected a DataFrame"
                )
        return {topic: result[topic] for topic in self.writes}


def pipeline(
    *,
    name: str,
    reads: str | Iterable[str],
    writes: str | Iterable[str],
    output_mode: str = "append",
    options: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Pipeline]:
    """Make a `Pipeline` of the function below.

    `output_mode` matters to stateful pipelines only (Spark's append, update or complete); `options` are options of
    the source, the sink and Spark, as `fencepost run --set` takes them.
    """

    def decorate(function: Callable[..., Any]) -> Pipeline:
        return Pipeline(
            name=name,
            reads=as_topics(reads),
            writes=as_topics(writes),
            function=function,
            output_mode=output_mode,
            options=dict(options or {}),
        )

    return decorate


def as_topics(topics: str | Iterable[str]) -> tuple[str, ...]:
    return (topics,) if isinstance(topics, str) else tuple(topics)


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def check_name(name: str) -> None:
    if not isinstance(name, str) or not LEGAL_NAME.fullmatch(name) or len(name) > NAME_LENGTH_MAX:
        raise InvalidPipeline(
            f"pipeline name {name!r}: expected 1 to {NAME_LENGTH_MAX} of the characters a-z A-Z 0-9 . _ -, because the "
            "pipeline's transactional id and ledger topic are made of it"
        )


def check_topics(given: Pipeline) -> None:
    for word, topics in (("reads", given.reads), ("writes", given.writes)):
        if not topics:
            raise InvalidPipeline(f"pipeline '{given.name}' {word} no topic: name at least one")
        for topic in topics:
            if not isinstance(topic, str) or not LEGAL_NAME.fullmatch(topic) or topic in (".", ".."):
                raise InvalidPipeline(f"pipeline '{given.name}' {word} {topic!r}, which is not a legal topic name")
            if len(topic) > TOPIC_LENGTH_MAX:
                raise InvalidPipeline(f"pipeline '{given.name}' {word} a topic name longer than {TOPIC_LENGTH_MAX}")
        if len(set(topics)) != len(topics):
            raise InvalidPipeline(f"pipeline '{given.name}' {word} a topic twice: {listed(topics)}")
    if both := [topic for topic in given.reads if topic in given.writes]:
        raise InvalidPipeline(f"pipeline '{given.name}' reads what it writes, without end: {listed(both)}")


def check_function(given: Pipeline) -> None:
    if not callable(given.function):
        raise InvalidPipeline(f"pipeline '{given.name}': {given.function!r} is not a function")
    try:
        inspect.signature(given.function).bind(*given.reads)
    except TypeError:
        raise InvalidPipeline(
            f"pipeline '{given.name}' reads {listed(given.reads)}, so its function must take {len(given.reads)} "
            f"DataFrame(s); it is {getattr(given.function, '__name__', '')}{inspect.signature(given.function)}"
        ) from None
