"""What the tests of several clients share: waiting with a deadline, sample records, Kafka's hash of known keys."""

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

DEADLINE_S = 30.0
PAUSE_S = 0.02
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")

T = TypeVar("T")


class Sample(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int


# Nulls and empties in every place, a header twice, text beyond ASCII, and enough bytes for a codec to bite on.
SAMPLES = [
    Sample(b"key", b"value", (("a", b"1"), ("a", b"2"), ("ü", b"\x00\xff")), 1_700_000_000_000),
    Sample(None, b"no key", (), 1_700_000_000_001),
    Sample(b"tombstone", None, (), 1_700_000_000_002),
    Sample(b"", b"", (("empty", b""),), 1_700_000_000_003),
    Sample(b"k", b"0123456789abcdef" * 4096, (), 1_600_000_000_000),
    *(Sample(b"key-%d" % n, b"value-%d" % n, (), 1_700_000_001_000 + n) for n in range(100)),
]

# From the tests of Apache Kafka's own org.apache.kafka.common.utils.Utils.
MURMUR2_OF_KEY = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def apache_partition(key: bytes, partitions: int) -> int:
    """Where Apache Kafka's producer puts a record with this key."""
    return (MURMUR2_OF_KEY[key] & 0x7FFFFFFF) % partitions


def wait_for(
    what: str, probe: Callable[[], T | None], *, pause_s: float = PAUSE_S, found: Callable[[], str] = str
) -> T:
    """The first answer of `probe` that is true, or a failure that says what did not come, and what was found."""
    end = time.monotonic() + DEADLINE_S
    while not (answer := probe()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {DEADLINE_S:.0f} s: {what} {found()}".rstrip())
        time.sleep(pause_s)
    return answer
