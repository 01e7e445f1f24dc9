"""What a crash leaves of what was never synced: chosen by a seed, extremes first.

A *plan* answers, for the index-th of count unsynced changes, how likely each part of it is to survive. File contents
and names have a plan each, because most mistakes show when the one survives and the other does not: a renamed file
whose bytes were never synced, synced bytes under a name that is gone.

Seeds below `len(EXTREMES)` are the extremes, each once; a larger seed draws its two plans and then every sector.
"""

from collections.abc import Callable
from enum import Enum
from random import Random

Plan = Callable[[int, int], float]


class CrashModel(Enum):
    KILLED = "killed"
    """The process died, the machine did not: everything written is there, and still not synced."""

    POWER_LOST = "power lost"
    """Of everything unsynced, any subset of sectors, file sizes and name changes is there."""

    TORN = "torn"
    """Power lost, and the last write ends at an arbitrary byte."""


class SimulatedCrash(BaseException):
    """The machine stops here. Not an `Exception`: code under test must not be able to live through it."""


def nothing(_index: int, _count: int) -> float:
    return 0.0


def everything(_index: int, _count: int) -> float:
    return 1.0


def only_the_last(index: int, count: int) -> float:
    return float(index == count - 1)


def only_the_first(index: int, _count: int) -> float:
    return float(index == 0)


def all_but_the_last(index: int, count: int) -> float:
    return float(index != count - 1)


def all_but_the_first(index: int, _count: int) -> float:
    return float(index != 0)


def coins(chance: float) -> Plan:
    return lambda _index, _count: chance


EXTREMES: tuple[tuple[Plan, Plan], ...] = (
    (nothing, nothing),
    (everything, everything),
    (nothing, everything),
    (everything, nothing),
    (only_the_last, only_the_last),
    (only_the_first, only_the_first),
    (all_but_the_last, all_but_the_last),
    (all_but_the_first, all_but_the_first),
    (only_the_last, everything),
    (only_the_first, everything),
)
DRAWN: tuple[Plan, ...] = (
    nothing,
    everything,
    only_the_last,
    only_the_first,
    all_but_the_last,
    all_but_the_first,
    coins(0.1),
    coins(0.5),
    coins(0.5),
    coins(0.9),
)


def plans(seed: int, generator: Random) -> tuple[Plan, Plan]:
    """The plan for file contents and the plan for names."""
    if 0 <= seed < len(EXTREMES):
        return EXTREMES[seed]
    return generator.choice(DRAWN), generator.choice(DRAWN)
