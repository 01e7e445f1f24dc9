"""Outputs as the sink takes them: columns topic, key, value and whichever of partition, headers, timestamp a
DataFrame has.

A column that no record can have is a mistake of the pipeline (most often a forgotten select), so it is refused, not
dropped.
"""

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RECORD_TYPES = {
    "topic": ("string",),
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "partition": ("int",),
    "headers": ("array<struct<key:string,value:binary>>",),
    "timestamp": ("timestamp",),
}


def check_outputs(pipeline: Pipeline, outputs: "Mapping[str, DataFrame] | DataFrame") -> None:
    """Names and types of the columns, before anything runs."""
    if not isinstance(outputs, Mapping):
        check_columns(pipeline, "of all topics", outputs)
        return
    for topic, frame in outputs.items():
        check_columns(pipeline, f"for '{topic}'", frame)


def check_columns(pipeline: Pipeline, which: str, frame: "DataFrame") -> None:
    where = f"pipeline '{pipeline.name}', output {which}"
    if "value" not in frame.columns:
        raise InvalidPipeline(f"{where}: no 'value' column, only {listed(frame.columns)}")
    for name, kind in frame.dtypes:
        if name not in RECORD_TYPES:
            raise InvalidPipeline(
                f"{where}: column '{name}' is no part of a record; select {listed(RECORD_TYPES)} or some of them"
            )
        if kind not in RECORD_TYPES[name] and kind != "void":
            raise InvalidPipeline(f"{where}: column '{name}' is {kind}; expected {' or '.join(RECORD_TYPES[name])}")


def one_frame(outputs: "Mapping[str, DataFrame] | DataFrame") -> "DataFrame":
    """All outputs below each other, each row with its topic: what a stateful pipeline gives to the sink."""
    if not isinstance(outputs, Mapping):
        return outputs
    from pyspark.sql import functions as f

    columns = [name for name in RECORD_TYPES if any(name in frame.columns for frame in outputs.values())]
    columns = list(dict.fromkeys(["topic", "key", "value", *columns]))
    frames = []
    for topic, frame in outputs.items():
        cells = []
        for name in columns:
            cell = f.lit(topic) if name == "topic" else f.col(name) if name in frame.columns else f.lit(None)
            cells.append(cell.cast(RECORD_TYPES[name][0]).alias(name))
        frames.append(frame.select(*cells))
    return reduce(lambda above, below: above.unionByName(below), frames)
