"""How long to go on, how long to pause between two tries, and the one loop around them: `retry`.

Also what has to be closed: `Closing` makes a `with` block of it.
"""

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from fencepost.client.exceptions import ClientError, RetriableError, Timeout
from fencepost.client.settings import ClientSettings

Clock = Callable[[], float]
AnswerT = TypeVar("AnswerT")

JITTER = 0.2
REQUEST_TIMEOUT_MIN_S = 0.001


class Deadline:
    """A moment on the monotonic clock. `Deadline(None)` never comes."""

    __slots__ = ("_at", "_clock")

    def __init__(self, seconds: float | None, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._at = None if seconds is None else clock() + seconds

    @property
    def remaining_s(self) -> float:
        return math.inf if self._at is None else max(0.0, self._at - self._clock())

    @property
    def has_passed(self) -> bool:
        return self._at is not None and self._clock() >= self._at

    def at_most(self, seconds: float) -> float:
        """What is left, but not more than `seconds`."""
        return min(seconds, self.remaining_s)

    def for_request(self, settings: ClientSettings) -> float:
        """How long one request may take: what is left, at most `request.timeout.ms`, and never nothing at all."""
        return max(REQUEST_TIMEOUT_MIN_S, self.at_most(settings.request_timeout_ms / 1000))


class Backoff:
    """Pauses that double from `retry.backoff.ms` to `retry.backoff.max.ms`, each up to a fifth shorter or longer."""

    __slots__ = ("_first_s", "_longest_s", "_tries")

    def __init__(self, settings: ClientSettings) -> None:
        self._first_s = settings.retry_backoff_ms / 1000
        self._longest_s = settings.retry_backoff_max_ms / 1000
        self._tries = 0

    def next_pause_s(self) -> float:
        pause_s = min(self._first_s * 2.0 ** min(self._tries, 32), self._longest_s)
        self._tries += 1
        return pause_s * random.uniform(1 - JITTER, 1 + JITTER)

    def reset(self) -> None:
        self._tries = 0

    def pause(
        self,
        deadline: Deadline,
        problem: ClientError,
        what: str | None,
        *,
        at_most_s: float = math.inf,
        leaves_time: bool = False,
    ) -> None:
        """Sleep before the next try. When the time is up, or with `leaves_time` would be after the pause: `Timeout`,
        which says what was tried and what kept it from succeeding; without `what` the problem itself."""
        pause_s = min(self.next_pause_s(), at_most_s)
        if deadline.has_passed or (leaves_time and deadline.remaining_s <= pause_s):
            if what is None:
                raise problem
            raise Timeout(f"{what} did not come in time; the last try said: {problem}") from problem
        time.sleep(deadline.at_most(pause_s))


def retry(
    call: Callable[[], AnswerT],
    settings: ClientSettings,
    deadline: Deadline,
    what: str | None,
    *,
    is_retriable: Callable[[ClientError], bool] = lambda problem: isinstance(problem, RetriableError),
    pause_max_s: Callable[[ClientError], float] = lambda _: math.inf,
    leaves_time: bool = False,
) -> AnswerT:
    """What `call` returns, called again while what it raises may pass and the time is not up: see `Backoff.pause`.

    What has to be done before the next try (to look for a leader again, say) `call` does before it raises.
    """
    backoff = Backoff(settings)
    while True:
        try:
            return call()
        except ClientError as problem:
            if not is_retriable(problem):
                raise
            backoff.pause(deadline, problem, what, at_most_s=pause_max_s(problem), leaves_time=leaves_time)


class Closing(ABC):
    """A `with` block closes it, however the block ends."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
