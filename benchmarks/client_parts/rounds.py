"""Rivals in turns: interleaved rounds, every second one in reverse, within a bound of time.

Of each rival the best round counts, because a busy machine can only take away. What other programs take away least is
CPU time, so that of both processes, client and broker, is kept beside the rate.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import psutil

ROUNDS_MAX = 5
PART_SECONDS = 20.0
"""No round begins that would pass this, if it takes as long as the one before."""


class Work(NamedTuple):
    done: int
    seconds: float


class Measured(NamedTuple):
    """The best of all rounds, each for itself."""

    rate: float = 0.0
    cpu_us: float = float("inf")
    """CPU time of client and broker together for one record or transaction, connecting included."""

    def better(self, other: "Measured") -> "Measured":
        return Measured(max(self.rate, other.rate), min(self.cpu_us, other.cpu_us))


def measure(broker_process_id: int, rivals: Sequence[Callable[[], Work]]) -> list[Measured]:
    found = [Measured()] * len(rivals)
    began = time.perf_counter()
    for number in range(ROUNDS_MAX):
        round_began = time.perf_counter()
        for index in sorted(range(len(rivals)), reverse=number % 2 == 1):
            found[index] = found[index].better(_run(broker_process_id, rivals[index]))
        ended = time.perf_counter()
        if ended - began + (ended - round_began) > PART_SECONDS:
            break
    return found


def _run(broker_process_id: int, rival: Callable[[], Work]) -> Measured:
    before_s = _cpu_s(broker_process_id)
    work = rival()
    return Measured(work.done / work.seconds, (_cpu_s(broker_process_id) - before_s) / work.done * 1e6)


def _cpu_s(broker_process_id: int) -> float:
    broker = psutil.Process(broker_process_id).cpu_times()
    return time.process_time() + float(broker.user) + float(broker.system)
