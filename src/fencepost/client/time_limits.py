"""How long to go on, and how long to pause between two tries."""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self

from fencepost.client.settings import ClientSettings

Clock = Callable[[], float]
JITTER = 0.2


class Deadline:
    """A moment on the monotonic clock. `Deadline(None)` never comes."""

    __slots__ = ("_at", "_clock")

    def __init__(self, seconds: float | None, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._at = None if seconds is None else clock() + seconds

    @property
    def remaining_s(self) -> float:
        return float("inf") if self._at is None else max(0.0, self._at - self._clock())

    @property
    def has_passed(self) -> bool:
        return self._at is not None and self._clock() >= self._at

    def at_most(self, seconds: float) -> float:
        """What is left, but not more than `seconds`."""
        return min(seconds, self.remaining_s)


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


# What has to be closed: a `with` block does it, however it ends.


class Closing(ABC):
    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
