"""One record: what a producer hands over and what a consumer gets.

Header keys are text. Bytes that are not UTF-8 survive a read and a write as surrogate escapes, because a broker may
not change, nor choke on, what a client was allowed to store.
"""

from typing import NamedTuple

from fencepost.errors import FencepostError
from fencepost.types import NO_OFFSET, NO_TIMESTAMP

Headers = tuple[tuple[str, bytes | None], ...]

HEADER_KEY_ERRORS = "surrogateescape"


class Record(NamedTuple):
    offset: int = NO_OFFSET
    timestamp_ms: int = NO_TIMESTAMP
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()


# What this room raises.
#
# `InvalidRecordBatch` says that bytes given to us are not a record batch that can be read: cut short, fields that
# contradict each other, a payload that its codec refuses, or one that would grow past the limit. Who gave the
# bytes decides what it means: from a client it becomes a `Refusal`, from the disk a `CorruptLog`.


class InvalidRecordBatch(FencepostError):  # noqa: N818 - it names a state of the bytes, as `CorruptLog` one of the disk
    """Bytes that are not a readable record batch of format 2."""


# Sequence arithmetic: sequences live in 0..2147483647 and wrap to 0, never to a negative number.


SEQUENCE_MAX = 2**31 - 1
_SEQUENCE_COUNT = 2**31


def increment_sequence(sequence: int, by: int) -> int:
    return (sequence + by) % _SEQUENCE_COUNT


def decrement_sequence(sequence: int, by: int) -> int:
    return (sequence - by) % _SEQUENCE_COUNT
