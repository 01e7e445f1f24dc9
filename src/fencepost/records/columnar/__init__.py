"""Arrow columns <-> record batches, without a Python object for each record.

`encode_batches` and `decode_batches` are the two directions; `murmur2_partitions` says where Kafka's default
partitioner puts each key. Work is done by compiled kernels where numba is installed and by numpy, more slowly and with
the same result, where it is not. The first call compiles (some seconds, once on a machine) or loads compiled code from
numba's cache (half a second, once in a process): `warm_up` takes that moment ahead.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.records.columnar.arrow import UnsupportedColumn, bytes_column, record_columns
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
from fencepost.records.columnar.kernels import (
    BytesColumn,
    Kernels,
    RecordColumns,
    default_kernels,
    numba_kernels,
    numpy_kernels,
)

__all__ = [
    "ALL_OFFSETS",
    "RECORD_SCHEMA",
    "RECORD_SCHEMA_WITH_HEADERS",
    "DecodedBatches",
    "Kernels",
    "ProducerStamp",
    "RecordColumns",
    "RecordTooLarge",
    "SkipBatch",
    "UnsupportedColumn",
    "decode_batches",
    "default_kernels",
    "encode_batches",
    "encode_columns",
    "murmur2_partitions",
    "numba_kernels",
    "numpy_kernels",
    "record_columns",
    "stamp_producer",
    "warm_up",
]


def murmur2_partitions(
    keys: pa.Array | pa.ChunkedArray | BytesColumn, partition_count: int, *, kernels: Kernels | None = None
) -> NDArray[np.int32]:
    """Each key's partition by Kafka's default partitioner; -1 for a null key, which the caller may put anywhere."""
    if partition_count < 1:
        raise ValueError(f"partition_count {partition_count} must be positive")
    if isinstance(keys, pa.ChunkedArray):
        parts = [murmur2_partitions(chunk, partition_count, kernels=kernels) for chunk in keys.chunks]
        return np.concatenate([np.empty(0, np.int32), *parts])
    column = keys if isinstance(keys, BytesColumn) else bytes_column(keys, name="key")
    partitions = np.empty(len(column.lengths), np.int32)
    (kernels or default_kernels()).murmur2_partitions(column, partition_count, partitions)
    return partitions


def warm_up() -> str:
    """Load or compile every kernel by using it once; returns the name of the set in use."""
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
    return default_kernels().name
