"""The fast way to read a batch gives what the plain one gives, for good batches and for bad ones."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.client.consumer.fetch_chunk import decode_records
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import HEADER_BYTES, read_header, write_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record

INT64 = st.integers(-(2**63), 2**63 - 1)
blobs = st.none() | st.binary(max_size=20) | st.sampled_from([b"x" * size for size in (63, 64, 127, 128, 8191, 8192)])
record = st.builds(
    Record,
    timestamp_ms=INT64 | st.integers(1_700_000_000_000, 1_700_000_020_000),
    key=blobs,
    value=blobs,
    headers=st.just(()) | st.lists(st.tuples(st.text(max_size=3), blobs), max_size=2).map(tuple),
)


def outcome(read: object, *arguments: object) -> object:
    try:
        return read(*arguments)  # type: ignore[operator]
    except InvalidRecordBatch as problem:
        return str(problem)


@settings(deadline=None, max_examples=300)
@given(
    records=st.lists(record, min_size=1, max_size=70),
    compression=st.sampled_from([Compression.NONE, Compression.GZIP]),
    append_time_ms=st.none() | st.integers(0, 2**40),
    base_offset=st.integers(0, 2**62),
)
def test_batches_are_read_as_the_plain_reader_reads_them(
    records: list[Record], compression: Compression, append_time_ms: int | None, base_offset: int
) -> None:
    batch = build_batch(records, compression=compression, append_time_ms=append_time_ms, base_offset=base_offset)
    assert decode_records(memoryview(batch), read_header(batch)) == read_records(batch)


@settings(deadline=None, max_examples=1000)
@given(payload=st.binary(max_size=40), count=st.integers(-1, 4))
@example(payload=bytes([16, 0, 0, 0, 3, 2, 2, 0, 0]), count=1)
@example(payload=bytes([12, 0, 0, 0, 3, 2, 0]), count=1)
@example(payload=bytes([20, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1, 1, 0]), count=1)
@example(payload=bytes([22, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1, 1, 0]), count=1)
def test_whatever_the_bytes_are_the_outcome_is_the_plain_readers(payload: bytes, count: int) -> None:
    header = read_header(build_batch([Record(value=b"v")]))._replace(record_count=count)
    batch = write_header(header, payload) + payload
    assert len(batch) == HEADER_BYTES + len(payload)
    assert outcome(decode_records, memoryview(batch), read_header(batch)) == outcome(read_records, batch)


@settings(deadline=None, max_examples=500)
@given(
    records=st.lists(record, min_size=1, max_size=4),
    at=st.integers(0, 200),
    byte=st.integers(0, 255),
)
def test_a_changed_byte_changes_both_readings_alike(records: list[Record], at: int, byte: int) -> None:
    batch = bytearray(build_batch(records))
    batch[HEADER_BYTES + at % (len(batch) - HEADER_BYTES)] = byte
    assert outcome(decode_records, memoryview(batch), read_header(batch)) == outcome(read_records, bytes(batch))
