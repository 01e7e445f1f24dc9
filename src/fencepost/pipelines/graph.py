"""The pipelines of a file as a directed acyclic graph of stages: who feeds whom, in which order, and a drawing of it;
and the topics of a run, before it starts.

An arrow goes from a pipeline to every pipeline that reads a topic which the first one writes. A cycle would never
come to rest and is refused, naming the way round.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from fencepost.errors import ErrorCode
from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from fencepost.client.admin.admin import Admin


OUTPUTS, ALL, NONE = "outputs", "all", "none"
CHOICES = (OUTPUTS, ALL, NONE)
"""Which topics are made where they are missing."""


@dataclass(frozen=True)
class Graph:
    """Pipelines in an order in which everyone comes after those that feed it."""

    stages: tuple[Pipeline, ...]

    @property
    def inputs(self) -> list[str]:
        """Topics that are read here and written elsewhere."""
        written = set(self.outputs)
        return unique(topic for stage in self.stages for topic in stage.reads if topic not in written)

    @property
    def outputs(self) -> list[str]:
        """Topics that are written here."""
        return unique(topic for stage in self.stages for topic in stage.writes)

    def readers(self, topic: str) -> list[Pipeline]:
        return [stage for stage in self.stages if topic in stage.reads]

    def draw(self) -> list[str]:
        """One line per topic and stage, as a tree per input; a stage with several inputs is drawn once and names the
        others.
        """
        lines: list[str] = []
        drawn: set[str] = set()
        for topic in self.inputs:
            lines.append(topic)
            self._draw_below(topic, "", lines, drawn)
        return lines

    def _draw_below(self, topic: str, indent: str, lines: list[str], drawn: set[str]) -> None:
        readers = self.readers(topic)
        for position, stage in enumerate(readers):
            is_last = position == len(readers) - 1
            others = [read for read in stage.reads if read != topic]
            beside = f" + {', '.join(others)}" if others else ""
            again = " (see above)" if stage.name in drawn else ""
            lines.append(f"{indent}{'└' if is_last else '├'}─▶ [{stage.name}]{beside}{again}")
            if stage.name in drawn:
                continue
            drawn.add(stage.name)
            below = indent + ("    " if is_last else "│   ")
            for number, written in enumerate(stage.writes):
                is_last_topic = number == len(stage.writes) - 1
                lines.append(f"{below}{'└' if is_last_topic else '├'}─▶ {written}")
                self._draw_below(written, below + ("    " if is_last_topic else "│   "), lines, drawn)


def graph_of(pipelines: Sequence[Pipeline]) -> Graph:
    feeders = {
        stage.name: [other.name for other in pipelines if set(other.writes) & set(stage.reads)] for stage in pipelines
    }
    by_name = {stage.name: stage for stage in pipelines}
    ordered: list[str] = []
    for stage in pipelines:
        visit(stage.name, feeders, ordered, ())
    return Graph(tuple(by_name[name] for name in ordered))


def visit(name: str, feeders: dict[str, list[str]], ordered: list[str], way: tuple[str, ...]) -> None:
    if name in way:
        circle = " -> ".join((*way[way.index(name) :], name)[::-1])
        raise InvalidPipeline(f"these pipelines feed each other in a circle: {circle}; a graph of stages must not")
    if name in ordered:
        return
    for feeder in feeders[name]:
        visit(feeder, feeders, ordered, (*way, name))
    ordered.append(name)


def unique(topics: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(topics))


def ensure_topics(admin: "Admin", graph: Graph, *, create: str, source_admin: "Admin | None" = None) -> list[str]:
    """Returns the names of the topics that were made. What other pipelines of the run write counts as an output. A
    missing topic that is not to be made is an error that names the nearest.
    """
    there = set(admin.describe_topics())
    at_source = there if source_admin is None else set(source_admin.describe_topics())
    missing_inputs = [topic for topic in graph.inputs if topic not in at_source]
    missing_outputs = [topic for topic in graph.outputs if topic not in there]
    if missing_inputs and create != ALL:
        raise InvalidPipeline(missing_message("read", missing_inputs, at_source, "--create-topics all"))
    if missing_outputs and create == NONE:
        raise InvalidPipeline(missing_message("written", missing_outputs, there, "--create-topics outputs"))
    for topic in missing_outputs:
        create_topic(admin, topic)
    for topic in missing_inputs:
        create_topic(source_admin or admin, topic)
    return [*missing_inputs, *missing_outputs]


def partitions_of(admin: "Admin", topics: Iterable[str]) -> list[TopicPartition]:
    described = admin.describe_topics(topics)
    return [TopicPartition(topic, index) for topic, metadata in described.items() for index in metadata.partitions]


def create_topic(admin: "Admin", topic: str) -> None:
    from fencepost.client.exceptions import ClientError

    try:
        admin.create_topic(topic)
    except ClientError as problem:
        if problem.error_code != ErrorCode.TOPIC_ALREADY_EXISTS:
            raise


def missing_message(verb: str, missing: list[str], there: set[str], option: str) -> str:
    close = get_close_matches(missing[0], sorted(there), n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"no topic {listed(missing)}, to be {verb}{hint} (`fencepost topics create`, or {option}, makes it)"
