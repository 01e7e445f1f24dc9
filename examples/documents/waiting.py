"""Waiting for something to become true, with a limit."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 90.0
PAUSE_S = 0.02

T = TypeVar("T")


def wait_for(what: str, probe: Callable[[], T], explain: Callable[[], str] = lambda: "") -> T:
    """The first true answer of `probe`."""
    end = time.monotonic() + PATIENCE_S
    while not (answer := probe()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {PATIENCE_S:.0f} s: {what}\n{explain()}")
        time.sleep(PAUSE_S)
    return answer
