"""Which failures of a query are worth another start, and how long to wait before it.

A restart is always safe: the ledger says what was committed. It is pointless where the same start would fail the same
way, and harmful where another driver has taken over: two that restart would fence each other for ever.

The source runs in processes of Spark's, which passes on the text of their tracebacks and nothing else. A final error is
known there by its whole name at the head of an exception's line. What a row holds may be in such a text too, in the
message of an exception that the pipeline's own function raised: nothing behind the first of those is believed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.errors import PySparkException

from fencepost.client.exceptions import FencedError
from fencepost.pipelines.pipeline import InvalidPipeline
from fencepost.settings import InvalidSetting
from fencepost.spark.offsets import InvalidSourceOffset
from fencepost.spark.sink.errors import FencedByAnotherDriver, InvalidFrame, InvalidRow, LedgerDisagrees, RefusedSetup
from fencepost.spark.sink.writer import HOPELESS
from fencepost.spark.source.cluster import UnknownTopic
from fencepost.spark.source.following import DataLoss, OtherCluster

FINAL = (
    *HOPELESS,
    DataLoss,
    FencedByAnotherDriver,
    FencedError,
    InvalidFrame,
    InvalidPipeline,
    InvalidRow,
    InvalidSetting,
    InvalidSourceOffset,
    LedgerDisagrees,
    OtherCluster,
    RefusedSetup,
    UnknownTopic,
)
TRACEBACK = "Traceback (most recent call last):"
OF_THE_SOURCE = re.compile(
    r"(\[STREAM_FAILED\] Query \[[^\]\n]*\] terminated with exception: )?"
    r"\[PYTHON_(STREAMING_)?DATA_SOURCE_\w*ERROR\] [^:\n]*: "
)
"""What Spark says before the traceback of a source in its driver, where no row is seen."""
OF_A_TASK = "An exception was thrown from the Python worker:\n"
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0


def is_final(problem: BaseException) -> bool:
    """Looks through causes: a final one may be wrapped."""
    seen: set[int] = set()
    cause: BaseException | None = problem
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, FINAL) or is_final_in_text(cause):
            return True
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return False


def is_final_in_text(problem: BaseException) -> bool:
    before, _, _ = str(problem).partition(TRACEBACK)
    is_of_source = OF_THE_SOURCE.fullmatch(before) is not None
    if not isinstance(problem, PySparkException) or not (is_of_source or before == OF_A_TASK):
        return False
    final = {f"{one.__module__}.{one.__qualname__}" for one in with_subclasses(FINAL)}
    for line in exception_lines(str(problem)):
        name = line.partition(":")[0]
        if name in final:
            return True
        if not is_of_source and not name.startswith("fencepost."):
            return False
    return False


def with_subclasses(classes: tuple[type, ...]) -> Iterator[type]:
    for one in classes:
        yield one
        yield from with_subclasses(tuple(one.__subclasses__()))


def exception_lines(text: str) -> list[str]:
    """Of each traceback the line that names the exception: the first one behind the frames, which are indented."""
    found = []
    for shown in text.split(TRACEBACK)[1:]:
        lines = [line.rstrip() for line in shown.splitlines() if line.strip() and not line[0].isspace()]
        found += lines[:1]
    return found


@dataclass
class BackOff:
    """Doubles with every failure in a row; a commit in between starts it anew."""

    failures: int = 0

    def next_pause_s(self) -> float:
        self.failures += 1
        return float(min(FIRST_PAUSE_S * 2 ** (self.failures - 1), LONGEST_PAUSE_S))

    def reset(self) -> None:
        self.failures = 0


def in_one_line(problem: BaseException) -> str:
    """The exception at the end of a traceback, or else the first line that says something; Spark's exceptions go on
    with stack traces of two languages.
    """
    raised = exception_lines(str(problem))
    if raised:
        name, colon, message = raised[-1].partition(":")
        return f"{name.rpartition('.')[2]}{colon}{message}"
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0] if lines else 'no message'}"


def in_words(problem: BaseException) -> str:
    """What ended the run. Of an error of the source, how Spark came to it says nothing to the user."""
    return in_one_line(problem) if is_final_in_text(problem) else str(problem)
