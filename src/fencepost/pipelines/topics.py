"""The topics of a run, before it starts: outputs are made where they are missing, a missing input is an error that
names the nearest.

What other pipelines of the run write counts as an output. With `all`, missing inputs are made too; with `none`,
nothing is.
"""

from difflib import get_close_matches
from typing import TYPE_CHECKING

from fencepost.errors import ErrorCode
from fencepost.pipelines.graph import Graph
from fencepost.pipelines.pipeline import InvalidPipeline, listed

if TYPE_CHECKING:
    from fencepost.client.admin import Admin

OUTPUTS, ALL, NONE = "outputs", "all", "none"
CHOICES = (OUTPUTS, ALL, NONE)


def ensure_topics(admin: "Admin", graph: Graph, *, create: str, source_admin: "Admin | None" = None) -> list[str]:
    """Returns the names of the topics that were made."""
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
