"""One index row per batch, in 28 bytes: where a batch is and what it holds.

Rows of the segment that is being written lie in one bytearray per partition, appended in order; sealing a segment turns
them into columns (`index_file.py`). A checkpoint has a row too, with its position as its offset.
"""

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from fencepost.types import NO_TIMESTAMP

if TYPE_CHECKING:
    import numpy as np
else:
    from fencepost.journal.numpy_later import np

ROW = struct.Struct("<qqIII")
ROW_BYTES = ROW.size
pack_row = ROW.pack
"""A row from its five fields in the order of `Row`, for the path of every append."""
_BASE_OFFSET = struct.Struct("<q")


@cache
def row_columns() -> "np.dtype[Any]":
    """The columns of rows that lie one after the other, as numpy sees them."""
    return np.dtype(
        [
            ("base_offset", "<i8"),
            ("max_timestamp", "<i8"),
            ("last_offset_delta", "<u4"),
            ("place", "<u4"),
            ("size_bytes", "<u4"),
        ]
    )


class Row(NamedTuple):
    """`place` is where the frame begins, `size_bytes` the size of its payload."""

    base_offset: int
    max_timestamp: int
    last_offset_delta: int
    place: int
    size_bytes: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta


class OpenRows:
    """The rows of a segment that is being written."""

    def __init__(self) -> None:
        self._rows: dict[int, bytearray] = {}

    def add(self, partition_ref: int, row: bytes) -> None:
        try:
            self._rows[partition_ref] += row
        except KeyError:
            self._rows[partition_ref] = bytearray(row)

    def partition_refs(self) -> list[int]:
        return sorted(self._rows)

    def packed(self, partition_ref: int) -> bytearray:
        return self._rows.get(partition_ref, bytearray())

    def count(self, partition_ref: int) -> int:
        return len(self._rows.get(partition_ref, b"")) // ROW_BYTES

    def get(self, partition_ref: int, number: int) -> Row:
        return Row._make(ROW.unpack_from(self._rows[partition_ref], number * ROW_BYTES))

    def find(self, partition_ref: int, offset: int) -> int:
        """The number of the first row whose batch ends at or above `offset`."""
        rows = self.packed(partition_ref)
        low, high = 0, len(rows) // ROW_BYTES
        while low < high:
            middle = (low + high) // 2
            if _BASE_OFFSET.unpack_from(rows, middle * ROW_BYTES)[0] <= offset:
                low = middle + 1
            else:
                high = middle
        return low - 1 if low and self.get(partition_ref, low - 1).last_offset >= offset else low


def batch_row(*, base_offset: int, last_offset: int, max_timestamp: int, place: int, size_bytes: int) -> bytes:
    return ROW.pack(base_offset, max_timestamp, last_offset - base_offset, place, size_bytes)


def checkpoint_row(*, position: int, place: int, size_bytes: int) -> bytes:
    return ROW.pack(position, NO_TIMESTAMP, 0, place, size_bytes)
