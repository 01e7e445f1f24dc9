"""One record: what a producer hands over and what a consumer gets.

Header keys are text. Bytes that are not UTF-8 survive a read and a write as surrogate escapes, because a broker may
not change, nor choke on, what a client was allowed to store.
"""

from typing import NamedTuple

from fencepost.types import NO_OFFSET, NO_TIMESTAMP

Headers = tuple[tuple[str, bytes | None], ...]

HEADER_KEY_ERRORS = "surrogateescape"


class Record(NamedTuple):
    offset: int = NO_OFFSET
    timestamp_ms: int = NO_TIMESTAMP
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()
