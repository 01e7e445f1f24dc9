"""Arrow columns <-> record batches, without a Python object for each record.

`encode_batches` and `decode_batches` are the two directions; `murmur2_partitions` says where Kafka's default
partitioner puts each key. Work is done by compiled kernels where numba is installed and by numpy, more slowly and with
the same result, where it is not. The first call compiles (some seconds, once on a machine) or loads compiled code from
numba's cache (half a second, once in a process): `warm_up` takes that moment ahead.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.records.columnar_arrow import UnsupportedColumn, bytes_column
from fencepost.records.columnar_decode import (
    ALL_OFFSETS,
    RECORD_SCHEMA,
    RECORD_SCHEMA_WITH_HEADERS,
    DecodedBatches,
    SkipBatch,
    decode_batches,
)
from fencepost.records.columnar_encode import ProducerStamp, RecordTooLarge, encode_batches, stamp_producer
from fencepost.records.columnar_kernels import Kernels, default_kernels, numba_kernels, numpy_kernels

__all__ = [
    "ALL_OFFSETS",
    "RECORD_SCHEMA",
    "RECORD_SCHEMA_WITH_HEADERS",
    "DecodedBatches",
    "Kernels",
    "ProducerStamp",
    "RecordTooLarge",
    "SkipBatch",
    "UnsupportedColumn",
    "decode_batches",
    "default_kernels",
    "encode_batches",
    "murmur2_partitions",
    "numba_kernels",
    "numpy_kernels",
    "stamp_producer",
    "warm_up",
]


def murmur2_partitions(
    keys: pa.Array | pa.ChunkedArray, partition_count: int, *, kernels: Kernels | None = None
) -> NDArray[np.int32]:
    """Each key's partition by Kafka's default partitioner; -1 for a null key, which the caller may put anywhere."""
    if partition_count < 1:
        raise ValueError(f"partition_count {partition_count} must be positive")
    chunks = keys.chunks if isinstance(keys, pa.ChunkedArray) else [keys]
    partitions = np.empty(len(keys), np.int32)
    start = 0
    for chunk in chunks:
        column = bytes_column(chunk, name="key")
        (kernels or default_kernels()).murmur2_partitions(
            column, partition_count, partitions[start : start + len(chunk)]
        )
        start += len(chunk)
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
