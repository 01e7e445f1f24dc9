"""The kernels, compiled by numba at first use. Import this module only where a kernel is called: it loads numba.

numba does not check bounds, so every byte read here is preceded by a comparison with the end of its record, and the
record's end by one with the end of its payload. All arithmetic is on `int64`: numba turns a mix of `uint64` and `int64`
into floats, so logical shifts are arithmetic ones with a mask.
Compiled code is kept in numba's cache: next to this file, else in the user's cache folder, else nowhere. The cache does
not see changes in other files, so whatever a kernel calls lives in this one, and the numbers of `columns`
(columns of tables, problems) stand here as literals.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fencepost.errors import FencepostError
from fencepost.records.columnar.columns import Bytes, BytesColumn, Longs, RecordColumns, Scan


class NumbaMissing(FencepostError, ImportError):  # noqa: N818 - it names a state of the machine
    """Arrow columns cannot be encoded or decoded here."""


try:
    import numba
except ModuleNotFoundError as missing:
    problem = f"records as Arrow columns need numba, and {missing.name} is not installed: pip install 'fencepost[fast]'"
    raise NumbaMissing(problem, name=missing.name) from missing

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


def _compiled(function: FunctionT) -> FunctionT:
    try:
        return cast(FunctionT, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no folder to write a cache to
        return cast(FunctionT, numba.njit(nogil=True)(function))


def _inlined(function: FunctionT) -> FunctionT:
    """A call that stays one counts references to every array it is given, which costs more than most bodies here."""
    return cast(FunctionT, numba.njit(forceinline=True)(function))


@_inlined
def _byte(data: Bytes, at: int) -> int:
    """Widened, because shifting a byte loses bits."""
    return np.int64(data[at])  # type: ignore[return-value]


@_inlined
def _zigzag(value: int) -> int:
    return (value << 1) ^ (value >> 63)


@_inlined
def _varint_bytes(value: int) -> int:
    rest = _zigzag(value)
    size = 1
    while rest & ~127:
        rest = (rest >> 7) & 0x01FFFFFFFFFFFFFF
        size += 1
    return size


@_inlined
def _put_varint(out: Bytes, at: int, value: int) -> int:
    rest = _zigzag(value)
    while rest & ~127:
        out[at] = (rest & 127) | 128
        rest = (rest >> 7) & 0x01FFFFFFFFFFFFFF
        at += 1
    out[at] = rest
    return at + 1


@_inlined
def _sized_bytes(length: int) -> int:
    return _varint_bytes(length) + max(length, 0)


@_inlined
def _put_bytes(out: Bytes, at: int, data: Bytes, start: int, length: int) -> int:
    """Slices first: their indices cannot be negative, so that the loop becomes a vector copy."""
    target = out[at : at + length]
    source = data[start : start + length]
    for index in range(length):
        target[index] = source[index]
    return at + length


@_inlined
def _put_sized(out: Bytes, at: int, data: Bytes, start: int, length: int) -> int:
    return _put_bytes(out, _put_varint(out, at, length), data, start, max(length, 0))


@_inlined
def _fixed_part_bytes(columns: RecordColumns, row: int) -> int:
    """What a record takes wherever it stands: all but its two deltas and its own length."""
    headers = columns.headers
    count = headers.counts[row]
    size = 1 + _sized_bytes(columns.keys.lengths[row]) + _sized_bytes(columns.values.lengths[row])
    size += _varint_bytes(count)
    for index in range(headers.starts[row], headers.starts[row] + count):
        size += _sized_bytes(headers.keys.lengths[index]) + _sized_bytes(headers.values.lengths[index])
    return size


@_compiled
def plan_batches(columns: RecordColumns, payload_bytes_max: int, body_lengths: Longs, plan: Longs) -> int:
    """Cut rows into batches, greedily. Returns how many lines of `plan` it filled, or `~row` of a row too large.

    A line is the row where a batch ends and the bytes of its payload. The length of each record without its length
    prefix is left in `body_lengths`.
    """
    timestamps = columns.timestamps
    batch_count = 0
    start_row = 0
    payload_bytes = 0
    for row in range(len(timestamps)):
        fixed = _fixed_part_bytes(columns, row)
        body = fixed + _varint_bytes(timestamps[row] - timestamps[start_row]) + _varint_bytes(row - start_row)
        size = _sized_bytes(body)
        if row > start_row and payload_bytes + size > payload_bytes_max:
            plan[batch_count, 0] = row
            plan[batch_count, 1] = payload_bytes
            batch_count += 1
            start_row = row
            payload_bytes = 0
            body = fixed + 2
            size = _sized_bytes(body)
        body_lengths[row] = body
        if size > payload_bytes_max:
            return ~row
        payload_bytes += size
    if payload_bytes > 0:
        plan[batch_count, 0] = len(timestamps)
        plan[batch_count, 1] = payload_bytes
        batch_count += 1
    return batch_count


@_compiled
def write_records(columns: RecordColumns, start_row: int, end_row: int, body_lengths: Longs, out: Bytes) -> int:
    """Write the records of one batch; returns the bytes written."""
    timestamps = columns.timestamps
    keys, key_starts, key_lengths = columns.keys
    values, value_starts, value_lengths = columns.values
    header_starts, header_counts, header_keys, header_values = columns.headers
    header_key_data, header_key_starts, header_key_lengths = header_keys
    header_value_data, header_value_starts, header_value_lengths = header_values
    at = 0
    for row in range(start_row, end_row):
        at = _put_varint(out, at, body_lengths[row])
        out[at] = 0
        at = _put_varint(out, at + 1, timestamps[row] - timestamps[start_row])
        at = _put_varint(out, at, row - start_row)
        at = _put_sized(out, at, keys, key_starts[row], key_lengths[row])
        at = _put_sized(out, at, values, value_starts[row], value_lengths[row])
        count = header_counts[row]
        at = _put_varint(out, at, count)
        for index in range(header_starts[row], header_starts[row] + count):
            at = _put_sized(out, at, header_key_data, header_key_starts[index], header_key_lengths[index])
            at = _put_sized(out, at, header_value_data, header_value_starts[index], header_value_lengths[index])
    return at


@_inlined
def _keep_record(payload: Longs, start_offset: int, end_offset: int, fields: Longs, row: int) -> int:
    """Turn the deltas of a scanned record into its offset and timestamp; the row after it, or its own to drop it."""
    offset = payload[3] + fields[0, row]
    if offset < start_offset or offset >= end_offset:
        return row
    fields[0, row] = offset
    fields[1, row] = payload[5] if payload[6] else payload[4] + fields[1, row]
    fields[2, row] = payload[6]
    return row + 1


@_compiled
def scan_records(data: Bytes, payloads: Longs, start_offset: int, end_offset: int, fields: Longs) -> Scan:
    """Find the fields of all records of all payloads, check every length, keep what is in the range of offsets.

    A record is varints, some of them followed by that many bytes, read in one loop: cut into functions at the varint,
    it took half as long again. Number 0 is the record's length, then deltas of timestamp (1) and offset (2), lengths
    of key (3) and value (4), the count of headers (5), and from 6 on lengths of header keys (even) and values (odd).
    """
    row = 0
    for payload in range(len(payloads)):
        at = payloads[payload, 0]
        for record in range(payloads[payload, 2]):
            end = payloads[payload, 1]
            varint = 0
            varint_count = 6
            while varint < varint_count:
                bytes_max = 10 if varint == 1 else 5
                raw = 0
                problem = 2
                for index in range(bytes_max):
                    if at >= end:
                        problem = 1
                        break
                    byte = _byte(data, at)
                    at += 1
                    raw |= (byte & 127) << (7 * index)
                    if byte < 128:
                        problem = 2 if index == bytes_max - 1 and byte > (15 if bytes_max == 5 else 1) else 0
                        break
                value = ((raw >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(raw & 1)
                if problem != 0:
                    pass
                elif varint == 0:
                    problem = 3 if value < 0 or value > end - at else 0
                    end = at + value
                    at += 1  # attributes of the record: none is defined
                elif varint < 3:
                    fields[2 - varint, row] = value
                elif varint == 5:
                    problem = 4 if value < 0 or value > (end - at) // 2 else 0
                    fields[7, row] = at
                    fields[8, row] = value
                    varint_count += 2 * value
                else:
                    problem = 3 if value > end - at else 5 if value < 0 and varint > 5 and varint & 1 == 0 else 0
                    if varint < 5:
                        fields[2 * varint - 3, row] = at
                        fields[2 * varint - 2, row] = max(value, -1)
                    at += max(value, 0)
                if problem != 0:
                    return Scan(row, problem, payload, record)
                varint += 1
            if at != end:
                return Scan(row, 6, payload, record)
            row = _keep_record(payloads[payload], start_offset, end_offset, fields, row)
        if at != payloads[payload, 1]:
            return Scan(row, 7, payload, payloads[payload, 2])
    return Scan(row, 0, 0, 0)


@_inlined
def _get_length(data: Bytes, at: int) -> tuple[int, int]:
    """A varint that a scan has checked, and the position behind it."""
    raw = 0
    shift = 0
    while True:
        byte = _byte(data, at)
        at += 1
        raw |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return (raw >> 1) ^ -(raw & 1), at


@_compiled
def find_headers(data: Bytes, fields: Longs, keys: Longs, values: Longs) -> None:
    """Fill starts (line 0) and lengths (line 1) of header keys and values, of records that a scan has checked."""
    header = 0
    for row in range(fields.shape[1]):
        at = fields[7, row]
        for _ in range(fields[8, row]):
            length, at = _get_length(data, at)
            keys[0, header] = at
            keys[1, header] = length
            length, at = _get_length(data, at + length)
            values[0, header] = at
            values[1, header] = max(length, -1)
            at += max(length, 0)
            header += 1


@_compiled
def gather(column: BytesColumn, offsets: NDArray[np.int32], out: Bytes) -> None:
    """Copy the byte strings of a column behind one another; `offsets` gets where each starts, and the end."""
    data, starts, lengths = column
    at = 0
    offsets[0] = 0
    for row in range(len(starts)):
        at = _put_bytes(out, at, data, starts[row], max(lengths[row], 0))
        offsets[row + 1] = at


@_inlined
def _murmur2(data: Bytes, start: int, length: int) -> int:
    """The hash as a number in 0..2**32-1; products of two such numbers with this multiplier stay below 2**63."""
    multiplier = 0x5BD1E995
    value = (0x9747B28C ^ length) & 0xFFFFFFFF
    at = start
    end = start + length
    while at + 4 <= end:
        word = _byte(data, at) | _byte(data, at + 1) << 8 | _byte(data, at + 2) << 16 | _byte(data, at + 3) << 24
        word = (word * multiplier) & 0xFFFFFFFF
        word ^= word >> 24
        word = (word * multiplier) & 0xFFFFFFFF
        value = ((value * multiplier) & 0xFFFFFFFF) ^ word
        at += 4
    if at < end:
        for index in range(end - at):
            value ^= _byte(data, at + index) << (8 * index)
        value = (value * multiplier) & 0xFFFFFFFF
    value ^= value >> 13
    value = (value * multiplier) & 0xFFFFFFFF
    return value ^ (value >> 15)


@_compiled
def murmur2_partitions(keys: BytesColumn, partition_count: int, partitions: NDArray[np.int32]) -> None:
    """Kafka's default partition for each key, -1 for null."""
    for row in range(len(partitions)):
        length = keys.lengths[row]
        if length < 0:
            partitions[row] = -1
        else:
            partitions[row] = (_murmur2(keys.data, keys.starts[row], length) & 0x7FFFFFFF) % partition_count
