"""The kernels in numpy, for places without numba: same bytes, same columns, same problems found at the same record.

Each field of all records is one vector operation. Two things go row by row: the walk along the length prefixes of
records, because each says where the next one is, and the copying of byte strings. Headers are read in rounds: the first
one of every record, then the second, and so on.
"""

import numpy as np
from numpy.typing import NDArray

from fencepost.records.columnar.kernels import Bytes, BytesColumn, Field, Longs, Payload, Problem, RecordColumns, Scan

name = "numpy"

_LOGICAL_SHIFT_7 = 0x01FFFFFFFFFFFFFF
_VARINT_BYTES_MAX = 5
_VARLONG_BYTES_MAX = 10
_LAST_BYTE_MAX = {_VARINT_BYTES_MAX: 15, _VARLONG_BYTES_MAX: 1}


def plan_batches(
    columns: RecordColumns, payload_bytes_max: int, record_count_max: int, body_lengths: Longs, plan: Longs
) -> int:
    timestamps = columns.timestamps
    fixed = _fixed_part_bytes(columns)
    bytes_before = _sums_before(_sized_bytes(fixed + 2))
    batch_count = start_row = 0
    while start_row < len(timestamps):
        # Deltas only add to the sizes summed up here, so the batch ends at or before this row.
        fitting = int(np.searchsorted(bytes_before, bytes_before[start_row] + payload_bytes_max, side="right")) - 1
        end_row = min(max(fitting, start_row + 1), start_row + record_count_max)
        deltas = timestamps[start_row:end_row] - timestamps[start_row : start_row + 1]
        bodies = fixed[start_row:end_row] + _varint_bytes(deltas) + _varint_bytes(np.arange(end_row - start_row))
        payload_bytes = np.cumsum(_sized_bytes(bodies))
        count = int(np.searchsorted(payload_bytes, payload_bytes_max, side="right"))
        body_lengths[start_row : start_row + max(count, 1)] = bodies[: max(count, 1)]
        if count == 0:
            return ~start_row
        start_row += count
        plan[batch_count] = start_row, payload_bytes[count - 1]
        batch_count += 1
    return batch_count


def write_records(columns: RecordColumns, start_row: int, end_row: int, body_lengths: Longs, out: Bytes) -> int:
    rows = slice(start_row, end_row)
    bodies = body_lengths[rows]
    ends = np.cumsum(_sized_bytes(bodies))
    at = _put_varints(out, ends - _sized_bytes(bodies), bodies)
    out[at] = 0
    at = _put_varints(out, at + 1, columns.timestamps[rows] - columns.timestamps[start_row : start_row + 1])
    at = _put_varints(out, at, np.arange(end_row - start_row))
    at = _put_sized(out, at, _rows_of(columns.keys, rows))
    at = _put_sized(out, at, _rows_of(columns.values, rows))
    headers = columns.headers
    counts = headers.counts[rows]
    at = _put_varints(out, at, counts)
    if counts.any():
        picked = _ranges(headers.starts[rows], counts)
        keys, values = _rows_of(headers.keys, picked), _rows_of(headers.values, picked)
        sizes_before = _sums_before(_sized_bytes(keys.lengths) + _sized_bytes(values.lengths))
        row_starts = np.repeat(at - sizes_before[_sums_before(counts)[:-1]], counts)
        _put_sized(out, _put_sized(out, row_starts + sizes_before[:-1], keys), values)
    return int(ends[-1])


def scan_records(data: Bytes, payloads: Longs, start_offset: int, end_offset: int, fields: Longs) -> Scan:
    row_count = 0
    for index, payload in enumerate(payloads):
        starts, stop, problem = _walk(data.data, *(int(payload[at]) for at in (0, 1, 2)))
        scanned, problems = _scan_bodies(data, starts)
        bad = np.flatnonzero(problems)
        record = int(bad[0]) if len(bad) else starts.shape[1]
        problem = int(problems[record]) if len(bad) else problem
        offsets = scanned[Field.OFFSET, :record] + payload[Payload.BASE_OFFSET]
        kept = np.flatnonzero((offsets >= start_offset) & (offsets < end_offset))
        into = fields[:, row_count : row_count + len(kept)]
        into[:] = scanned[:, kept]
        into[Field.OFFSET] = offsets[kept]
        if payload[Payload.IS_APPEND_TIME]:
            into[Field.TIMESTAMP] = payload[Payload.APPEND_TIMESTAMP]
        else:
            into[Field.TIMESTAMP] += payload[Payload.BASE_TIMESTAMP]
        into[Field.TIMESTAMP_TYPE] = payload[Payload.IS_APPEND_TIME]
        row_count += len(kept)
        if problem == Problem.NONE and stop != payload[Payload.END]:
            problem = Problem.PAYLOAD_SIZE
        if problem != Problem.NONE:
            return Scan(row_count, problem, index, record)
    return Scan(row_count, Problem.NONE, 0, 0)


def find_headers(data: Bytes, fields: Longs, keys: Longs, values: Longs) -> None:
    counts = fields[Field.HEADER_COUNT]
    first = _sums_before(counts)[:-1]
    rows = np.flatnonzero(counts)
    at = fields[Field.HEADERS_START, rows]
    past = np.full(len(rows), len(data), np.int64)
    header_number = 0
    while len(rows):
        problems = np.zeros(len(rows), np.int64)
        header = first[rows] + header_number
        keys[1, header], keys[0, header] = lengths, at = _get_varints(data, at, past, problems)
        lengths, at = _get_varints(data, at + lengths, past, problems)
        values[0, header], values[1, header] = at, np.maximum(lengths, -1)
        header_number += 1
        more = counts[rows] > header_number
        at = (at + np.maximum(lengths, 0))[more]
        rows, past = rows[more], past[more]


def gather(column: BytesColumn, offsets: NDArray[np.int32], out: Bytes) -> None:
    ends = _sums_before(np.maximum(column.lengths, 0))
    offsets[:] = ends
    _put_bytes(out, ends[:-1], column)


def murmur2_partitions(keys: BytesColumn, partition_count: int, partitions: NDArray[np.int32]) -> None:
    data, starts, lengths = keys
    multiplier = np.uint32(0x5BD1E995)
    hashes = (np.maximum(lengths, 0).astype(np.uint32)) ^ np.uint32(0x9747B28C)
    rows = np.flatnonzero(lengths >= 4)
    at = 0
    while len(rows):
        first = starts[rows] + at
        words = sum(data[first + index].astype(np.uint32) << np.uint32(8 * index) for index in range(4)) * multiplier
        words = (words ^ (words >> np.uint32(24))) * multiplier
        hashes[rows] = (hashes[rows] * multiplier) ^ words
        at += 4
        rows = rows[lengths[rows] >= at + 4]
    tails = np.maximum(lengths, 0) % 4
    for index in range(3):
        rows = np.flatnonzero(tails > index)
        last = starts[rows] + lengths[rows] - tails[rows] + index
        hashes[rows] ^= data[last].astype(np.uint32) << np.uint32(8 * index)
    rows = np.flatnonzero(tails)
    hashes[rows] *= multiplier
    hashes = (hashes ^ (hashes >> np.uint32(13))) * multiplier
    hashes ^= hashes >> np.uint32(15)
    partitions[:] = (hashes & np.uint32(0x7FFFFFFF)).astype(np.int64) % partition_count
    partitions[lengths < 0] = -1


def _sums_before(values: Longs) -> Longs:
    """For n values n + 1 sums: of the values before each, and of all."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def _ranges(starts: Longs, lengths: Longs) -> Longs:
    """start, start + 1, ... for each start, `length` numbers of it, one behind the other."""
    sums = _sums_before(lengths)
    numbers: Longs = np.repeat(starts - sums[:-1], lengths) + np.arange(sums[-1])
    return numbers


def _rows_of(column: BytesColumn, rows: slice | Longs) -> BytesColumn:
    return BytesColumn(column.data, column.starts[rows], column.lengths[rows])


def _zigzag(values: Longs) -> Longs:
    return (values << 1) ^ (values >> 63)


def _varint_bytes(values: Longs) -> Longs:
    rest = _zigzag(values)
    sizes = np.ones(len(values), np.int64)
    while len(longer := np.flatnonzero(rest & ~127)):
        sizes[longer] += 1
        rest = (rest >> 7) & _LOGICAL_SHIFT_7
    return sizes


def _sized_bytes(lengths: Longs) -> Longs:
    return _varint_bytes(lengths) + np.maximum(lengths, 0)


def _fixed_part_bytes(columns: RecordColumns) -> Longs:
    """What a record takes wherever it stands: all but its two deltas and its own length."""
    headers = columns.headers
    sizes: Longs = 1 + _sized_bytes(columns.keys.lengths) + _sized_bytes(columns.values.lengths)
    sizes += _varint_bytes(headers.counts)
    header_bytes = _sums_before(_sized_bytes(headers.keys.lengths) + _sized_bytes(headers.values.lengths))
    sizes += header_bytes[headers.starts + headers.counts] - header_bytes[headers.starts]
    return sizes


def _put_varints(out: Bytes, at: Longs, values: Longs) -> Longs:
    """The positions behind the values."""
    rest = _zigzag(values)
    at = at.copy()
    rows = np.arange(len(values))
    while len(rows):
        piece = rest[rows]
        is_longer = (piece & ~127) != 0
        out[at[rows]] = (piece & 127) | (is_longer << 7)
        rest[rows] = (piece >> 7) & _LOGICAL_SHIFT_7
        at[rows] += 1
        rows = rows[is_longer]
    return at


def _put_sized(out: Bytes, at: Longs, column: BytesColumn) -> Longs:
    at = _put_varints(out, at, column.lengths)
    _put_bytes(out, at, column)
    return at + np.maximum(column.lengths, 0)


def _put_bytes(out: Bytes, at: Longs, column: BytesColumn) -> None:
    """A slice for each byte string: from ten bytes on this beats index arrays, which take 16 bytes for a byte."""
    target, source = out.data, column.data.data
    rows = zip(at.tolist(), column.starts.tolist(), column.lengths.tolist(), strict=True)
    for position, start, length in rows:
        if length > 0:
            target[position : position + length] = source[start : start + length]


def _walk(data: memoryview, at: int, end: int, record_count: int) -> tuple[Longs, int, int]:
    """Starts and ends of record bodies, the position behind the last one, and why the walk stopped early, or 0."""
    starts: list[int] = []
    ends: list[int] = []
    for _ in range(record_count):
        raw = shift = 0
        while True:
            if at >= end:
                return _lines(starts, ends), at, Problem.VARINT_CUT_SHORT
            byte = data[at]
            at += 1
            if shift == 28 and byte > _LAST_BYTE_MAX[_VARINT_BYTES_MAX]:
                return _lines(starts, ends), at, Problem.VARINT_TOO_LONG
            raw |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        if raw & 1 or raw >> 1 > end - at:
            return _lines(starts, ends), at, Problem.LENGTH_PAST_END
        starts.append(at)
        at += raw >> 1
        ends.append(at)
    return _lines(starts, ends), at, Problem.NONE


def _lines(*lists: list[int]) -> Longs:
    return np.array(lists, np.int64)


def _get_varints(
    data: Bytes, at: Longs, ends: Longs, problems: Longs, bytes_max: int = _VARINT_BYTES_MAX
) -> tuple[Longs, Longs]:
    """Values and the positions behind them, of the rows without a problem; those that have one get it here."""
    raw = np.zeros(len(at), np.int64)
    at = at.copy()
    rows = np.flatnonzero(problems == Problem.NONE)
    for index in range(bytes_max):
        is_short = at[rows] >= ends[rows]
        problems[rows[is_short]] = Problem.VARINT_CUT_SHORT
        rows = rows[~is_short]
        byte = data[at[rows]].astype(np.int64)
        at[rows] += 1
        raw[rows] |= (byte & 127) << (7 * index)
        if index == bytes_max - 1:
            problems[rows[byte > _LAST_BYTE_MAX[bytes_max]]] = Problem.VARINT_TOO_LONG
        rows = rows[byte >= 128]
        if not len(rows):
            break
    return ((raw >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(raw & 1), at


def _flag(problems: Longs, is_wrong: NDArray[np.bool_], problem: Problem) -> None:
    problems[is_wrong & (problems == Problem.NONE)] = problem


def _scan_bodies(data: Bytes, bodies: Longs) -> tuple[Longs, Longs]:
    """The table of fields, with deltas in place of offset and timestamp, and the first problem of each record."""
    at, ends = bodies
    fields = np.zeros((len(Field), len(at)), np.int64)
    problems = np.zeros(len(at), np.int64)
    fields[Field.TIMESTAMP], at = _get_varints(data, at + 1, ends, problems, _VARLONG_BYTES_MAX)
    fields[Field.OFFSET], at = _get_varints(data, at, ends, problems)
    for start_field, length_field in ((Field.KEY_START, Field.KEY_LENGTH), (Field.VALUE_START, Field.VALUE_LENGTH)):
        lengths, at = _get_varints(data, at, ends, problems)
        _flag(problems, lengths > ends - at, Problem.LENGTH_PAST_END)
        fields[start_field], fields[length_field] = at, np.maximum(lengths, -1)
        at = at + np.maximum(lengths, 0)
    counts, at = _get_varints(data, at, ends, problems)
    _flag(problems, (counts < 0) | (counts > (ends - at) // 2), Problem.HEADER_COUNT)
    fields[Field.HEADERS_START], fields[Field.HEADER_COUNT] = at, counts
    at = _skip_headers(data, at, ends, problems, counts)
    _flag(problems, at != ends, Problem.RECORD_SIZE)
    return fields, problems


def _skip_headers(data: Bytes, at: Longs, ends: Longs, problems: Longs, counts: Longs) -> Longs:
    """The positions behind the headers of each record."""
    at = at.copy()
    header_number = 0
    while len(rows := np.flatnonzero((counts > header_number) & (problems == Problem.NONE))):
        header_number += 1
        row_problems, row_ends = problems[rows], ends[rows]
        for is_key in (True, False):
            lengths, row_at = _get_varints(data, at[rows], row_ends, row_problems)
            if is_key:
                _flag(row_problems, lengths < 0, Problem.HEADER_KEY)
            _flag(row_problems, lengths > row_ends - row_at, Problem.LENGTH_PAST_END)
            at[rows] = row_at + np.maximum(lengths, 0)
        problems[rows] = row_problems
    return at
