"""Any columns: both sets of kernels agree to the byte, rows survive, limits hold, the plain codec says the same."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records.builder import build_batch
from fencepost.records.columnar import (
    RECORD_SCHEMA_WITH_HEADERS,
    ProducerStamp,
    decode_batches,
    encode_batches,
    murmur2_partitions,
    numba_kernels,
    numpy_kernels,
)
from fencepost.records.compression import Compression
from fencepost.records.header import read_header, stamp_in_place
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import OffsetRange

HEADERS_TYPE = RECORD_SCHEMA_WITH_HEADERS.field("headers").type
INT64 = st.integers(-(2**63), 2**63 - 1)
MAYBE_BYTES = st.none() | st.binary(max_size=200) | st.integers(0, 20_000).map(bytes)
ROWS = st.lists(
    st.tuples(
        MAYBE_BYTES,
        MAYBE_BYTES,
        INT64 | st.integers(1_763_000_000_000, 1_763_000_100_000),
        st.lists(st.tuples(st.text(max_size=70), MAYBE_BYTES), max_size=4),
    ),
    max_size=40,
)
STAMPS = st.builds(
    ProducerStamp,
    producer_id=st.integers(0, 2**63 - 1),
    producer_epoch=st.integers(0, 2**15 - 1),
    base_sequence=st.integers(0, 2**31 - 1),
    is_transactional=st.booleans(),
) | st.just(ProducerStamp())


def table_of(rows: list[tuple]) -> pa.RecordBatch:
    keys, values, timestamps, headers = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pa.record_batch(
        {
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.large_binary()),
            "timestamp": pa.array(timestamps, pa.int64()),
            "headers": pa.array(headers, HEADERS_TYPE),
        }
    )


def offsets_stamped(batches: list[bytearray], base_offset: int) -> bytes:
    for batch in batches:
        stamp_in_place(batch, base_offset=base_offset, leader_epoch=5)
        base_offset += read_header(batch).record_count
    return b"".join(batches)


@settings(deadline=None, max_examples=150)
@given(
    rows=ROWS,
    window=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    codec=st.sampled_from(Compression),
    stamp=STAMPS,
    batch_bytes_max=st.integers(60_000, 200_000),
    record_count_max=st.integers(1, 50),
)
def test_both_kernels_write_the_same_batches_and_rows_survive(
    rows: list[tuple],
    window: tuple[int, int],
    codec: Compression,
    stamp: ProducerStamp,
    batch_bytes_max: int,
    record_count_max: int,
) -> None:
    table = table_of(rows).slice(*window)
    rows = rows[window[0] : window[0] + window[1]]
    options = {
        "default_timestamp_ms": 0,
        "compression": codec,
        "producer": stamp,
        "batch_bytes_max": batch_bytes_max,
        "record_count_max": record_count_max,
    }
    batches = encode_batches(table, kernels=numba_kernels(), **options)
    assert encode_batches(table, kernels=numpy_kernels(), **options) == batches
    assert all(len(batch) <= batch_bytes_max for batch in batches)
    assert all(read_header(batch).record_count <= record_count_max for batch in batches)
    fetched = offsets_stamped(batches, 1000)
    decoded = [decode_batches(fetched, kernels=kernels) for kernels in (numba_kernels(), numpy_kernels())]
    assert decoded[0].records.equals(decoded[1].records)
    assert decoded[0][1:] == decoded[1][1:] == (1000 + len(rows) if rows else 0, len(fetched))
    records = decoded[0].records
    records.validate(full=True)
    assert records.column("offset").to_pylist() == list(range(1000, 1000 + len(rows)))
    assert records.column("key").to_pylist() == [row[0] for row in rows]
    assert records.column("value").to_pylist() == [row[1] for row in rows]
    assert records.column("timestamp").view(pa.int64()).to_pylist() == [row[2] for row in rows]
    headers = [
        [(header["key"], header["value"]) for header in row or []] for row in records.column("headers").to_pylist()
    ]
    assert headers == [row[3] for row in rows]


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, stamp=STAMPS)
def test_batch_is_the_one_that_the_plain_builder_makes_and_the_plain_reader_reads(
    rows: list[tuple], stamp: ProducerStamp
) -> None:
    rows = [(key, value, timestamp // 2, headers) for key, value, timestamp, headers in rows]  # deltas fit 64 bits
    expected = [
        Record(offset, timestamp, key, value, tuple(headers))
        for offset, (key, value, timestamp, headers) in enumerate(rows)
    ]
    batches = encode_batches(
        table_of(rows), default_timestamp_ms=0, producer=stamp, batch_bytes_max=2**24, kernels=numba_kernels()
    )
    assert [bytes(batch) for batch in batches] == ([build_batch(expected, **stamp._asdict())] if rows else [])
    assert [record for batch in batches for record in read_records(batch)] == expected


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8),
    start_offset=st.integers(0, 60),
    length=st.integers(0, 60),
    codecs=st.lists(st.sampled_from(Compression), min_size=8, max_size=8),
)
def test_any_range_of_offsets_can_be_read_out_of_any_mix_of_batches(
    sizes: list[int], start_offset: int, length: int, codecs: list[Compression]
) -> None:
    batches = []
    for size, codec in zip(sizes, codecs, strict=False):
        table = pa.record_batch({"value": [b"the same again " * 20] * size})
        batches += encode_batches(table, default_timestamp_ms=0, compression=codec)
    fetched = offsets_stamped(batches, 10)
    wanted = OffsetRange(start_offset, start_offset + length)
    for kernels in (numba_kernels(), numpy_kernels()):
        decoded = decode_batches(fetched, offsets=wanted, kernels=kernels)
        expected = [offset for offset in range(10, 10 + sum(sizes)) if offset in wanted]
        assert decoded.records.column("offset").to_pylist() == expected
        assert decoded.next_offset >= start_offset
        assert all(offset < decoded.next_offset for offset in expected)


@settings(deadline=None, max_examples=100)
@given(keys=st.lists(st.none() | st.binary(max_size=70), max_size=50), partition_count=st.integers(1, 2**31 - 1))
def test_both_kernels_put_keys_on_the_same_partitions(keys: list[bytes | None], partition_count: int) -> None:
    column = pa.array(keys, pa.binary())
    compiled = murmur2_partitions(column, partition_count, kernels=numba_kernels())
    assert murmur2_partitions(column, partition_count, kernels=numpy_kernels()).tolist() == compiled.tolist()
    assert all((partition == -1) == (key is None) for key, partition in zip(keys, compiled, strict=True))
    assert all(-1 <= partition < partition_count for partition in compiled)
