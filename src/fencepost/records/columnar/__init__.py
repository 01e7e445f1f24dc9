"""Arrow columns <-> record batches, without a Python object for each record.

`encode` and `decode` are the two directions; `arrow` turns arrays into the flat `columns` that `kernels` work on. numba
compiles the kernels and is loaded by the first call that needs one, not by importing `encode` or `decode`; where it is
missing the call raises an ImportError that names what to install. The first call compiles (some seconds, once on a
machine) or loads compiled code from numba's cache (half a second, once in a process): `warm_up` does it ahead.
"""


def warm_up() -> None:
    """Load or compile every kernel by using it once."""
    import pyarrow as pa

    from fencepost.records.columnar.arrow import HEADERS_TYPE
    from fencepost.records.columnar.decode import decode_batches
    from fencepost.records.columnar.encode import encode_batches, murmur2_partitions

    records = pa.record_batch(
        {
            "key": [b"k"],
            "value": [b"v"],
            "headers": pa.array([[("h", b"v")]], HEADERS_TYPE),
        }
    )
    (batch,) = encode_batches(records, default_timestamp_ms=0)
    decode_batches(batch)
    murmur2_partitions(records.column("key"), 1)
