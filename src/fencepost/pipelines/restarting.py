"""Which failures of a query are worth another start, and how long to wait before it.

A restart is always safe: the ledger says what was committed. It is pointless where the same start would fail the same
way, and harmful where another driver has taken over: two that restart would fence each other for ever.
"""

from dataclasses import dataclass

from fencepost.client.exceptions import Authorization, FencedError
from fencepost.pipelines.pipeline import InvalidPipeline
from fencepost.settings import InvalidSetting
from fencepost.spark.sink_errors import FencedByAnotherDriver, InvalidFrame, InvalidRow, LedgerDisagrees, RefusedSetup

FINAL = (
    Authorization,
    FencedByAnotherDriver,
    FencedError,
    InvalidFrame,
    InvalidPipeline,
    InvalidRow,
    InvalidSetting,
    LedgerDisagrees,
    RefusedSetup,
)
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0


def is_final(problem: BaseException) -> bool:
    """Looks through causes: a final one may be wrapped."""
    seen: set[int] = set()
    cause: BaseException | None = problem
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, FINAL):
            return True
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return False


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
    """The first line that says something; Spark's exceptions go on with stack traces of two languages."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0] if lines else 'no message'}"
