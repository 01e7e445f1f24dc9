"""Arrow arrays to the flat columns that kernels take, and back.

Slices, 32 and 64 bit offsets, validity bitmaps, text and binary all become start and length per row; data is not
copied. Offsets are checked here once, because kernels trust them. What comes back is what Spark's `kafka` source has:
`binary` keys and values, timestamps (in milliseconds, UTC), and headers as `list<struct<key: string, value: binary>>`,
null for a record without any.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fencepost.errors import FencepostError
from fencepost.records.columnar.columns import Bytes, BytesColumn, HeaderColumns, Longs, RecordColumns
from fencepost.records.record import InvalidRecordBatch

TIMESTAMP_TYPE = pa.timestamp("ms", tz="UTC")
HEADERS_TYPE = pa.list_(pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())]))
ARROW_BYTES_MAX = 2**31 - 1
"""What 32 bit offsets of one `binary` array can address."""

_NO_BYTES = np.zeros(0, np.uint8)
_NO_BYTES.setflags(write=False)
_BYTES_TYPES = ("binary", "string", "large_binary", "large_string", "binary_view", "string_view")
_UNITS_PER_MS = {"us": 1_000, "ns": 1_000_000}


class UnsupportedColumn(FencepostError, ValueError):  # noqa: N818 - it names a state of the input, as `InvalidRecordBatch`
    """A column that has no place in a record, or is missing from it."""


def record_columns(records: pa.RecordBatch, *, default_timestamp_ms: int) -> RecordColumns:
    """Columns `value` and, where they are there, `key`, `headers` and `timestamp`; others are not looked at."""
    names = records.schema.names
    if "value" not in names:
        raise UnsupportedColumn(f"no column 'value' among {names}")
    row_count = len(records)
    return RecordColumns(
        timestamps=_timestamps(records.column("timestamp"), default_timestamp_ms)
        if "timestamp" in names
        else np.full(row_count, default_timestamp_ms, np.int64),
        keys=bytes_column(records.column("key"), name="key") if "key" in names else _all_null(row_count),
        values=bytes_column(records.column("value"), name="value"),
        headers=_header_columns(records.column("headers")) if "headers" in names else _no_headers(row_count),
    )


def _all_null(row_count: int) -> BytesColumn:
    return BytesColumn(_NO_BYTES, np.zeros(row_count, np.int64), np.full(row_count, -1, np.int64))


def _no_headers(row_count: int) -> HeaderColumns:
    nothing = np.zeros(row_count, np.int64)
    return HeaderColumns(nothing, nothing, _all_null(0), _all_null(0))


def bytes_column(array: pa.Array, *, name: str) -> BytesColumn:
    is_wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    if pa.types.is_null(array.type):
        return _all_null(len(array))
    if not (is_wide or pa.types.is_binary(array.type) or pa.types.is_string(array.type)):
        return bytes_column(_as_large_binary(array, name), name=name)
    _, offset_buffer, data_buffer = array.buffers()
    data = _NO_BYTES if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    data.setflags(write=False)
    if len(array) == 0:
        return BytesColumn(data, np.zeros(0, np.int64), np.zeros(0, np.int64))
    raw_offsets = np.frombuffer(offset_buffer, np.int64 if is_wide else np.int32)
    offsets = raw_offsets[array.offset : array.offset + len(array) + 1].astype(np.int64)
    lengths = np.diff(offsets)
    if offsets[0] < 0 or lengths.min() < 0 or offsets[-1] > len(data):
        raise UnsupportedColumn(f"column '{name}' has offsets outside its data")
    if array.null_count:
        lengths[_is_null(array)] = -1
    return BytesColumn(data, offsets[:-1], lengths)


def binary_array(column: BytesColumn, array_type: pa.DataType) -> pa.Array:
    """The byte strings of a column, copied out of the bytes that they were found in."""
    from fencepost.records.columnar import kernels

    row_count = len(column.lengths)
    is_valid = column.lengths >= 0
    total_bytes = int(column.lengths.sum()) + int(row_count - is_valid.sum())
    if total_bytes > ARROW_BYTES_MAX:
        raise InvalidRecordBatch(f"{total_bytes} bytes in one column: an array holds at most {ARROW_BYTES_MAX}")
    offsets, data = np.empty(row_count + 1, np.int32), np.empty(total_bytes, np.uint8)
    kernels.gather(column, offsets, data)
    return pa.Array.from_buffers(
        array_type, row_count, [_validity(is_valid), pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def headers_array(data: Bytes, fields: Longs, counts: Longs) -> pa.Array:
    from fencepost.records.columnar import kernels

    if not counts.any():
        return pa.nulls(len(counts), HEADERS_TYPE)
    keys, values = (np.empty((2, int(counts.sum())), np.int64) for _ in range(2))
    kernels.find_headers(data, fields, keys, values)
    key_array = _text_array(binary_array(BytesColumn(data, *keys), pa.binary()))
    value_array = binary_array(BytesColumn(data, *values), pa.binary())
    headers = pa.StructArray.from_arrays([key_array, value_array], fields=list(HEADERS_TYPE.value_type))
    offsets = pa.py_buffer(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
    return pa.Array.from_buffers(HEADERS_TYPE, len(counts), [_validity(counts > 0), offsets], children=[headers])


def _text_array(array: pa.Array) -> pa.Array:
    """Text of bytes that should be UTF-8; as in Java's client, what is not becomes U+FFFD."""
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode("utf-8", "replace") for key in array.to_pylist()], pa.string())


def _validity(is_valid: NDArray[np.bool_]) -> pa.Buffer | None:
    return None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))


def _is_null(array: pa.Array) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return mask


def _as_large_binary(array: pa.Array, name: str) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    is_bytes = pa.types.is_fixed_size_binary(kind) or str(kind) in _BYTES_TYPES
    if not is_bytes and not pa.types.is_null(kind):
        raise UnsupportedColumn(f"column '{name}' is {kind}: only binary and string, in any layout, can be written")
    return array.cast(pa.large_binary())


def _timestamps(array: pa.Array, default_timestamp_ms: int) -> Longs:
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), default_timestamp_ms, np.int64)
    if not (pa.types.is_timestamp(kind) or pa.types.is_int64(kind)):
        raise UnsupportedColumn(f"column 'timestamp' is {kind}: int64 milliseconds or a timestamp can be written")
    values: Longs = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(kind):
        values = values * 1_000 if kind.unit == "s" else values // _UNITS_PER_MS.get(kind.unit, 1)
    return np.where(_is_null(array), default_timestamp_ms, values) if array.null_count else values.copy()


def _header_columns(array: pa.Array) -> HeaderColumns:
    if pa.types.is_null(array.type):
        return _no_headers(len(array))
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        raise UnsupportedColumn(f"column 'headers' is {array.type}: it has to be {HEADERS_TYPE}")
    entries = array.values
    if not pa.types.is_struct(entries.type) or {"key", "value"} - set(entries.type.names):
        raise UnsupportedColumn(f"column 'headers' is {array.type}: it has to be {HEADERS_TYPE}")
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    counts = np.diff(offsets)
    if len(counts) and (offsets[0] < 0 or counts.min() < 0 or offsets[-1] > len(entries)):
        raise UnsupportedColumn("column 'headers' has offsets outside its data")
    if array.null_count:
        counts[_is_null(array)] = 0
    keys, values = (bytes_column(entries.field(name), name=f"headers.{name}") for name in ("key", "value"))
    _check_header_keys(entries, keys, offsets[:-1], counts)
    return HeaderColumns(offsets[:-1], counts, keys, values)


def _check_header_keys(entries: pa.StructArray, keys: BytesColumn, starts: Longs, counts: Longs) -> None:
    """A header has a key; entries that no row uses may hold anything."""
    if not entries.null_count and not (keys.lengths < 0).any():
        return
    is_missing = (keys.lengths < 0) | _is_null(entries)
    missing_before = np.concatenate(([0], np.cumsum(is_missing)))
    rows = np.flatnonzero(missing_before[starts + counts] > missing_before[starts])
    if len(rows):
        raise UnsupportedColumn(f"row {rows[0]} has a header without a key")
