"""Exactly-once pipelines on Spark: a pipeline is a named pure function from DataFrames to a dict of DataFrames.

Importing this room loads neither Spark nor Arrow: a pipeline file can be read, drawn and tested without a JVM.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, pipeline

if TYPE_CHECKING:
    from fencepost.pipelines.parsing import int32_from_bytes, int32_to_bytes, parse, parse_int32, parse_json

__all__ = [
    "InvalidPipeline",
    "Pipeline",
    "int32_from_bytes",
    "int32_to_bytes",
    "parse",
    "parse_int32",
    "parse_json",
    "pipeline",
]

_HOMES = {
    "int32_from_bytes": "fencepost.pipelines.parsing",
    "int32_to_bytes": "fencepost.pipelines.parsing",
    "parse": "fencepost.pipelines.parsing",
    "parse_int32": "fencepost.pipelines.parsing",
    "parse_json": "fencepost.pipelines.parsing",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fencepost.pipelines' has no attribute '{name}'")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
