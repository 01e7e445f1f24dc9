"""The flat columns and tables that kernels work on.

A column of byte strings is one `uint8` array with a start and a length per row; length -1 is null. Kernels get whole
columns, so no Python object stands for a record. A kernel trusts arrays that `arrow` made and trusts nothing that it
reads from a batch.
"""

from enum import IntEnum
from typing import NamedTuple

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
