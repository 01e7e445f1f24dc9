"""Arrow columns <-> record batches, without a Python object for each record.

`encode_batches` and `decode_batches` are the two directions; `murmur2_partitions` says where Kafka's default
partitioner puts each key. Work is done by kernels that numba compiles. numba is loaded by the first of these calls,
not by importing this package, and where it is missing the call raises an ImportError that names what to install.
The first call compiles (some seconds, once on a machine) or loads compiled code from numba's cache (half a second,
once in a process): `warm_up` takes that moment ahead.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.records.columnar.arrow import UnsupportedColumn, bytes_column, record_columns
from fencepost.records.columnar.columns import BytesColumn, RecordColumns
from fencepost.records.columnar.decode import (
    ALL_OFFSETS,
    RECORD_SCHEMA,
    RECORD_SCHEMA_WITH_HEADERS,
    DecodedBatches,
    SkipBatch,
    decode_batches,
)
from fencepost.records.columnar.encode import (
    ProducerStamp,
    RecordTooLarge,
    encode_batches,
    encode_columns,
    stamp_producer,
)

__all__ = [
    "ALL_OFFSETS",
    "RECORD_SCHEMA",
    "RECORD_SCHEMA_WITH_HEADERS",
    "DecodedBatches",
    "ProducerStamp",
    "RecordColumns",
    "RecordTooLarge",
    "SkipBatch",
    "UnsupportedColumn",
    "decode_batches",
    "encode_batches",
    "encode_columns",
    "murmur2_partitions",
    "record_columns",
    "stamp_producer",
    "warm_up",
]


def murmur2_partitions(keys: pa.Array | pa.ChunkedArray | BytesColumn, partition_count: int) -> NDArray[np.int32]:
    """Each key's partition by Kafka's default partitioner; -1 for a null key, which the caller may put anywhere."""
    from fencepost.records.columnar import kernels

    if partition_count < 1:
        raise ValueError(f"partition_count {partition_count} must be positive")
    if isinstance(keys, pa.ChunkedArray):
        parts = [murmur2_partitions(chunk, partition_count) for chunk in keys.chunks]
        return np.concatenate([np.empty(0, np.int32), *parts])
    column = keys if isinstance(keys, BytesColumn) else bytes_column(keys, name="key")
    partitions = np.empty(len(column.lengths), np.int32)
    kernels.murmur2_partitions(column, partition_count, partitions)
    return partitions


def warm_up() -> None:
    """Load or compile every kernel by using it once."""
    records = pa.record_batch(
        {
            "key": [b"k"],
            "value": [b"v"],
            "headers": pa.array([[("h", b"v")]], RECORD_SCHEMA_WITH_HEADERS.field("headers").type),
        }
    )
    (batch,) = encode_batches(records, default_timestamp_ms=0)
    decode_batches(batch)
    murmur2_partitions(records.column("key"), 1)
