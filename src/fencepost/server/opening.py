"""From a data folder to a broker core that has recovered what the folder holds."""

import asyncio
import ctypes
import secrets
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

from fencepost.broker.core import BrokerCore
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.server.broker_server import read_clocks
from fencepost.server.file_disk import FileDisk
from fencepost.settings import BrokerSettings


def open_core(folder: Path, settings: BrokerSettings) -> BrokerCore:
    """Take ownership of the folder, recover, and roll forward what a crash left half done."""
    config = JournalConfig(segment_bytes=settings.log_segment_bytes, syncs_commits=settings.fsync == "always")
    journal = Journal.open(FileDisk(folder), config, salt=lambda: secrets.randbits(64))
    core = BrokerCore(journal, settings, random_bytes=secrets.token_bytes)
    core.log_dir = str(folder)
    with ExitStack() as on_failure:
        on_failure.callback(journal.abandon)
        core.recover(read_clocks())
        on_failure.pop_all()
    return core


# The event loop that the broker runs on: uvloop where it can be had. `send_arrow` of 100 MB takes 1.2 s with it and 2.1
# without (medians of 6 runs in turns on a busy machine).


def new_event_loop() -> asyncio.AbstractEventLoop:
    if find_spec("uvloop") is None:  # not built for this platform
        return asyncio.new_event_loop()
    import uvloop

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


# How the C library deals with the memory of large requests: by default it gives it back after each, and the kernel
# then clears every page of it again for the next.


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES = 64 << 20
"""Freed memory that a broker keeps at most at the end of its heap: a few requests of several producers. Without it the
broker's CPU time for `send_arrow` of 300 MB is 0.50 s instead of 0.41 (medians of 12 runs in turns)."""
HEAP_BYTES_MAX = 32 << 20
"""Larger pieces are the kernel's business, one by one; glibc takes no higher limit."""


def keep_freed_memory() -> None:
    """For a process that is a broker and nothing else. Does nothing where there is no glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, HEAP_BYTES_MAX)
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
