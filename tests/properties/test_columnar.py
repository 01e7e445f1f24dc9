"""Any columns: the batches are the plain builder's to the byte, rows survive, limits hold and are used up."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.client.producer.producer import murmur2
from fencepost.records.builder import build_batch
from fencepost.records.columnar.decode import RECORD_SCHEMA_WITH_HEADERS, decode_batches
from fencepost.records.columnar.encode import ProducerStamp, encode_batches, murmur2_partitions, stamp_producer
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
    spare_bytes=st.integers(0, 1000) | st.integers(0, 200_000),
)
def test_batches_are_the_plain_builders_and_rows_survive(
    rows: list[tuple],
    window: tuple[int, int],
    codec: Compression,
    stamp: ProducerStamp,
    spare_bytes: int,
) -> None:
    table = table_of(rows).slice(*window)
    rows = rows[window[0] : window[0] + window[1]]
    expected = [
        Record(1000 + index, timestamp, key, value, tuple(headers))
        for index, (key, value, timestamp, headers) in enumerate(rows)
    ]
    batch_bytes_max = max((len(build_batch([record])) for record in expected), default=1) + spare_bytes
    batches = encode_batches(table, default_timestamp_ms=0, compression=codec, batch_bytes_max=batch_bytes_max)
    assert all(len(batch) <= batch_bytes_max for batch in batches)
    fetched = offsets_stamped(batches, 1000)
    assert [record for batch in batches for record in read_records(batch)] == expected

    start = 0
    for batch in encode_batches(table, default_timestamp_ms=0, batch_bytes_max=batch_bytes_max):
        end = start + read_header(batch).record_count
        stamp_producer(batch, stamp)
        assert bytes(batch) == build_batch(expected[start:end], **stamp._asdict())
        with_next = build_batch(expected[start : end + 1])
        assert end == len(rows) or len(with_next) > batch_bytes_max
        start, stamp = end, stamp.after(end - start)

    records, *place = decode_batches(fetched)
    assert place == [1000 + len(rows) if rows else 0, len(fetched)]
    records.validate(full=True)
    assert records.column("offset").to_pylist() == [record.offset for record in expected]
    assert records.column("key").to_pylist() == [record.key for record in expected]
    assert records.column("value").to_pylist() == [record.value for record in expected]
    assert records.column("timestamp").view(pa.int64()).to_pylist() == [record.timestamp_ms for record in expected]
    headers = [
        tuple((header["key"], header["value"]) for header in row or []) for row in records.column("headers").to_pylist()
    ]
    assert headers == [record.headers for record in expected]


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
    decoded = decode_batches(fetched, offsets=wanted)
    expected = [offset for offset in range(10, 10 + sum(sizes)) if offset in wanted]
    assert decoded.records.column("offset").to_pylist() == expected
    reached = min(wanted.end_offset, 10 + sum(sizes)) if wanted.end_offset > 10 else start_offset
    assert decoded.next_offset == max(start_offset, reached)


@settings(deadline=None, max_examples=100)
@given(keys=st.lists(st.none() | st.binary(max_size=70), max_size=50), partition_count=st.integers(1, 2**31 - 1))
def test_a_column_of_keys_lands_where_the_producer_puts_each_key(
    keys: list[bytes | None], partition_count: int
) -> None:
    expected = [-1 if key is None else (murmur2(key) & 0x7FFFFFFF) % partition_count for key in keys]
    assert murmur2_partitions(pa.array(keys, pa.binary()), partition_count).tolist() == expected
