"""What a transform may return, checked, as one DataFrame of records: topic, key, value and what else is there.

Checked here, on the driver and by type, so that a missing column is reported before a job starts. What only rows show
(a null topic, a record that is too large) is found by `encode.py`.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from fencepost.spark.sink.errors import InvalidFrame

Frames = DataFrame | Mapping[str, DataFrame] | Sequence[DataFrame]

HEADERS_DDL = "array<struct<key:string,value:binary>>"
OPTIONAL = {"partition": "int", "headers": HEADERS_DDL, "timestamp": "timestamp"}
"""Columns that may be missing, in the order in which they travel, with their types."""
_TEXT = "string or binary"
_EXPECTED = {"topic": "string", "key": _TEXT, "value": _TEXT, **OPTIONAL}


class Rows(NamedTuple):
    """All rows of all DataFrames, with the same columns."""

    frame: DataFrame
    topic: str | None
    """Where all of them go; None if the column `topic` says it of each."""


def record_rows(frames: Frames, topic: str | None) -> Rows | None:
    """None if there is no DataFrame at all.

    `topic` is where rows without a topic of their own go; in a mapping the names are the topics.
    """
    listed = _listed(frames, topic)
    schemas = [frame.schema for frame, _ in listed]
    for index, (schema, (_, target)) in enumerate(zip(schemas, listed, strict=True)):
        _check(schema, target, f"DataFrame {index}" if len(listed) > 1 else "the DataFrame")
    optional = [name for name in OPTIONAL if any(name in schema.names for schema in schemas)]
    targets = {target for _, target in listed}
    common = targets.pop() if len(targets) == 1 else None
    selected = [
        _selected(frame, schema, ([] if common is not None else [_topic(target)]), optional)
        for schema, (frame, target) in zip(schemas, listed, strict=True)
    ]
    return Rows(reduce(DataFrame.union, selected), common) if selected else None


def count_frames(frames: Frames) -> int:
    return len(frames) if isinstance(frames, Mapping | Sequence) else 1


def given_topics(frames: Frames, topic: str | None) -> list[str]:
    """The topics that are known without looking at rows."""
    if isinstance(frames, Mapping):
        return list(frames)
    return [] if topic is None else [topic]


def _listed(frames: Frames, topic: str | None) -> list[tuple[DataFrame, str | None]]:
    if isinstance(frames, DataFrame):
        return [(frames, topic)]
    if isinstance(frames, Mapping):
        return [(frame, name) for name, frame in frames.items()]
    if isinstance(frames, Sequence) and all(isinstance(frame, DataFrame) for frame in frames):
        return [(frame, topic) for frame in frames]
    raise InvalidFrame(
        f"a transform returned {type(frames).__name__}: expected a DataFrame, a list of them, or a mapping from "
        "topic to DataFrame"
    )


def _check(schema: StructType, target: str | None, which: str) -> None:
    if "value" not in schema.names:
        raise InvalidFrame(
            f"{which} has no column 'value', which a record needs; it has {', '.join(schema.names) or 'none'}: "
            "select what is to be written as `value` (to_json and struct make text of several columns)"
        )
    if "topic" not in schema.names and target is None:
        raise InvalidFrame(
            f"{which} has no column 'topic', and the sink has no topic either; it has {', '.join(schema.names)}: "
            "add the column, give the sink topic=..., or return a mapping from topic to DataFrame"
        )
    for name, expected in _EXPECTED.items():
        if name in schema.names and not (name == "topic" and target is not None):
            found = schema[name].dataType
            if not _fits(name, found):
                raise InvalidFrame(
                    f"column '{name}' of {which} is {found.simpleString()}: expected {expected}; cast it, or select "
                    "without it"
                )


def _fits(name: str, found: DataType) -> bool:
    if name in ("key", "value"):
        return isinstance(found, StringType | BinaryType)
    if name == "topic":
        return isinstance(found, StringType)
    if name == "partition":
        return isinstance(found, IntegerType)
    if name == "timestamp":
        return isinstance(found, TimestampType | TimestampNTZType)
    element = found.elementType if isinstance(found, ArrayType) else None
    return (
        isinstance(element, StructType)
        and element.names == ["key", "value"]
        and isinstance(element["key"].dataType, StringType)
        and isinstance(element["value"].dataType, BinaryType)
    )


def _selected(frame: DataFrame, schema: StructType, topic: list[str], optional: list[str]) -> DataFrame:
    """In SQL: a Column built in Python is a dozen calls to the JVM, and this is done for every micro-batch."""
    wanted = {"key": "binary", "value": "binary", **{name: OPTIONAL[name] for name in optional}}
    if not topic and [(field.name, field.dataType.simpleString()) for field in schema] == list(wanted.items()):
        return frame
    return frame.selectExpr(*topic, *(_typed(schema, name, ddl) for name, ddl in wanted.items()))


def _topic(target: str | None) -> str:
    # As hexadecimal digits, because which characters a literal must escape depends on the session.
    return "`topic`" if target is None else f"CAST(X'{target.encode().hex()}' AS STRING) AS `topic`"


def _typed(schema: StructType, name: str, ddl: str) -> str:
    if name not in schema.names:
        return f"CAST(NULL AS {ddl}) AS `{name}`"
    if schema[name].dataType.simpleString() == ddl:
        return f"`{name}`"
    return f"CAST(`{name}` AS {ddl}) AS `{name}`"
