"""Retention by time and size of one partition.

As in Kafka, the oldest batches go while they are older than `retention_ms`, and while what is left without them is
still at least `retention_bytes`; -1 turns a limit off. Offsets at or above `end_offset` never go, whatever their age.
A batch without a timestamp has no age: it goes when one behind it does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.journal.lookup import Table

if TYPE_CHECKING:
    import numpy as np
else:
    from fencepost.journal.numpy_later import np

NO_LIMIT = -1


@dataclass(frozen=True, slots=True)
class Retention:
    retention_ms: int = NO_LIMIT
    retention_bytes: int = NO_LIMIT

    def start_offset(self, tables: Iterable[Table], *, size_bytes: int, end_offset: int, now_ms: int) -> int | None:
        """The first offset to keep, from the rows of a partition oldest first; None if nothing may go."""
        start_offset: int | None = None
        for table in tables:
            last_offsets = table["base_offset"] + table["last_offset_delta"]
            sizes = np.cumsum(table["size_bytes"], dtype=np.int64)
            goes = np.zeros(len(sizes), dtype=bool)
            has_reason = np.zeros(len(sizes), dtype=bool)
            if self.retention_ms != NO_LIMIT:
                goes |= table["max_timestamp"] < now_ms - self.retention_ms
                has_reason |= table["max_timestamp"] >= 0
            if self.retention_bytes != NO_LIMIT:
                is_too_much = size_bytes - sizes >= self.retention_bytes
                goes |= is_too_much
                has_reason |= is_too_much
            goes &= last_offsets < end_offset
            count = len(goes) if goes.all() else int(np.argmin(goes))
            with_reason = np.flatnonzero(has_reason[:count])
            if len(with_reason):
                start_offset = int(last_offsets[with_reason[-1]]) + 1
            if count < len(goes):
                break
            size_bytes -= int(sizes[-1])
        return start_offset
