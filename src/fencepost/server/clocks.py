"""The two clocks of the shell, read together."""

import time

from fencepost.broker.call import Now


def read_clocks() -> Now:
    return Now(wall_ms=time.time_ns() // 1_000_000, monotonic_ms=time.monotonic_ns() // 1_000_000)
