"""What the two sets of kernels share: the shapes they work on, and which set is used.

A column of byte strings is one `uint8` array with a start and a length per row; length -1 is null. Kernels get whole
columns, so no Python object stands for a record. `columnar_numba` and `columnar_numpy` give identical bytes and
columns and refuse the same input; the numba set is chosen where numba can be imported, at first use, not at import.
A kernel trusts arrays that `columnar_arrow` made and trusts nothing that it reads from a batch.
"""

from enum import IntEnum
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]


class BytesColumn(NamedTuple):
    data: Bytes
    starts: Longs
    lengths: Longs

    def take(self, rows: Longs) -> "BytesColumn":
        return BytesColumn(self.data, self.starts[rows], self.lengths[rows])


class HeaderColumns(NamedTuple):
    """`counts[row]` headers of a row begin at `starts[row]` in `keys` and `values`."""

    starts: Longs
    counts: Longs
    keys: BytesColumn
    values: BytesColumn


class RecordColumns(NamedTuple):
    timestamps: Longs
    keys: BytesColumn
    values: BytesColumn
    headers: HeaderColumns

    def take(self, rows: Longs) -> "RecordColumns":
        """These rows, in this order. Bytes of keys and values stay where they are."""
        starts, counts, keys, values = self.headers
        headers = HeaderColumns(starts[rows], counts[rows], keys, values)
        return RecordColumns(self.timestamps[rows], self.keys.take(rows), self.values.take(rows), headers)


class PlannedBatch(IntEnum):
    """Columns of the plan: one line for each record batch."""

    END_ROW = 0
    PAYLOAD_BYTES = 1


class Payload(IntEnum):
    """Columns of the table of payloads: one line for each record batch whose records are scanned."""

    START = 0
    END = 1
    RECORD_COUNT = 2
    BASE_OFFSET = 3
    BASE_TIMESTAMP = 4
    APPEND_TIMESTAMP = 5
    IS_APPEND_TIME = 6


class Field(IntEnum):
    """Rows of the table of scanned records: one column for each record that is kept."""

    OFFSET = 0
    TIMESTAMP = 1
    TIMESTAMP_TYPE = 2
    KEY_START = 3
    KEY_LENGTH = 4
    VALUE_START = 5
    VALUE_LENGTH = 6
    HEADERS_START = 7
    HEADER_COUNT = 8


class Problem(IntEnum):
    """Why a scan stopped."""

    NONE = 0
    VARINT_CUT_SHORT = 1
    VARINT_TOO_LONG = 2
    LENGTH_PAST_END = 3
    HEADER_COUNT = 4
    HEADER_KEY = 5
    RECORD_SIZE = 6
    PAYLOAD_SIZE = 7


class Scan(NamedTuple):
    """`row_count` records are kept; with a problem, `record` counts within the payload numbered `payload`."""

    row_count: int
    problem: int
    payload: int
    record: int


RECORD_BYTES_MIN = 7
"""Seven varints and bytes of a record without key, value and headers."""


class Kernels(Protocol):
    """A module of kernels."""

    name: str

    def plan_batches(
        self, columns: RecordColumns, payload_bytes_max: int, record_count_max: int, body_lengths: Longs, plan: Longs
    ) -> int:
        """Cut rows into batches, greedily. Returns how many lines of `plan` it filled, or `~row` of a row too large.

        The length of each record without its length prefix is left in `body_lengths`.
        """

    def write_records(
        self, columns: RecordColumns, start_row: int, end_row: int, body_lengths: Longs, out: Bytes
    ) -> int:
        """Write the records of one batch; returns the bytes written."""

    def scan_records(self, data: Bytes, payloads: Longs, start_offset: int, end_offset: int, fields: Longs) -> Scan:
        """Find the fields of all records of all payloads, check every length, keep what is in the range of offsets."""

    def find_headers(self, data: Bytes, fields: Longs, keys: Longs, values: Longs) -> None:
        """Fill starts (line 0) and lengths (line 1) of header keys and values, of records that a scan has checked."""

    def gather(self, column: BytesColumn, offsets: NDArray[np.int32], out: Bytes) -> None:
        """Copy the byte strings of a column behind one another; `offsets` gets where each starts, and the end."""

    def murmur2_partitions(self, keys: BytesColumn, partition_count: int, partitions: NDArray[np.int32]) -> None:
        """Kafka's default partition for each key, -1 for null."""


@cache
def numpy_kernels() -> Kernels:
    from fencepost.records.columnar import kernels_numpy as kernels

    return kernels


@cache
def numba_kernels() -> Kernels | None:
    """None where numba is not installed."""
    try:
        from fencepost.records.columnar import kernels_numba as kernels
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        return None
    return kernels


def default_kernels() -> Kernels:
    return numba_kernels() or numpy_kernels()
