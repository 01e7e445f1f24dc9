"""How the C library deals with the memory of large requests: by default it gives it back after each, and the kernel
then clears every page of it again for the next."""

import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
KEPT_BYTES = 64 << 20
"""Freed memory that a broker keeps at most at the end of its heap: a few requests of several producers."""
HEAP_BYTES_MAX = 32 << 20
"""Larger pieces are the kernel's business, one by one; glibc takes no higher limit."""


def keep_freed_memory() -> None:
    """For a process that is a broker and nothing else. Does nothing where there is no glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, HEAP_BYTES_MAX)
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
