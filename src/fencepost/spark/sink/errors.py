"""What the sink refuses, each with what was seen, what was expected and what to do."""

import re
from dataclasses import dataclass

from fencepost.errors import FencepostError

# ruff: noqa: N818 - the classes name what is wrong with what they were given


class SinkError(FencepostError):
    """Everything that the sink raises on purpose."""


class InvalidFrame(SinkError):
    """A DataFrame that is not one of records: a column is missing, or has a type that cannot be written."""


class InvalidRow(SinkError):
    """A row that cannot become a record: no topic, an unknown topic or partition, too large."""


class RefusedSetup(SinkError):
    """A way of running under which exactly-once could not be promised."""


class LedgerDisagrees(SinkError):
    """The ledger and the checkpoint tell different stories. Nothing was published."""


class FencedByAnotherDriver(SinkError):
    """Another driver has taken over this sink. This one never writes again."""


class PublishFailed(SinkError):
    """What was pinned was not published, or not as it was. The transaction is aborted, and tried again."""


class GaveUp(SinkError):
    """A micro-batch failed as often as `max_retries` allows.

    Nothing of it is visible; or its commit was not answered, and the next start finds out. The text says which.
    """


class QueryStopped(SinkError):
    """Spark has cancelled the jobs of the query. What was not committed is aborted.

    Spark tells a stop from a failure by looking for the text of an interrupted call, and looks with an expression that
    overflows the stack of its thread on a long traceback: so the text is here, and what Spark raised is not chained to
    it but kept as `problem`.
    """

    def __init__(self, what: str, told: str, problem: BaseException) -> None:
        self.problem = problem
        super().__init__(
            f"{what}, because Spark has cancelled its jobs: {told}. "
            "(py4j.protocol.Py4JJavaError: An error occurred while calling java.lang.InterruptedException)"
        )


_STOPS = re.compile(
    r"^(?:: |Caused by: )?(?:org\.apache\.spark\.SparkException: )?"
    r"(?P<told>\[SPARK_JOB_CANCELLED\] .*|Job \d+ cancelled because SparkContext was shut down.*)"
    # Of the call itself: a task that was interrupted is a cause further down, and fails for reasons of its own.
    r"|^: (?P<interrupted>java\.lang\.InterruptedException|java\.nio\.channels\.ClosedByInterruptException)\b",
    re.MULTILINE,
)


def stop_told(problem: BaseException) -> str | None:
    """What Spark says when it has cancelled jobs or interrupted a query; None if it says something else."""
    found = _STOPS.search(str(problem))
    return None if found is None else found["told"] or found["interrupted"]


# What the sink tells about a micro-batch when it is done.


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkEvent:
    name: str
    batch_id: int | None
    """None for a batch DataFrame."""
    is_skipped: bool = False
    """The ledger had it already: nothing was published."""
    mode: str = "driver"
    row_count: int = 0
    size_bytes: int = 0
    partition_count: int = 0
    retry_count: int = 0
    encode_ms: float = 0.0
    """Spark's part: reading, computing, encoding, pinning."""
    commit_ms: float = 0.0
    """From the first call about the transaction to its end."""
