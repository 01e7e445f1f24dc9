import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.records import reader
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import HEADER_BYTES, BatchHeader, read_header, write_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record

RECORDS = [
    Record(0, 1_700_000_000_000, b"key", b"value", (("a", b"1"), ("a", None), ("", b""))),
    Record(1, 1_699_999_999_000, None, None),
    Record(2, 1_700_000_000_500, b"", b"x" * 10_000),
]


def batch_with_payload(payload: bytes, *, record_count: int = 1, compression: int = 0) -> bytes:
    """A batch whose header is right and whose records are whatever the test says."""
    header = read_header(build_batch([Record(timestamp_ms=0)]))
    header = header._replace(record_count=record_count, attributes=compression)
    return write_header(header, payload) + payload


def with_header(batch: bytes, **fields: int) -> bytes:
    header = BatchHeader(**{**read_header(batch)._asdict(), **fields})
    return write_header(header, batch[HEADER_BYTES:]) + batch[HEADER_BYTES:]


@pytest.mark.parametrize("compression", list(Compression))
def test_records_come_back_as_they_were_given(compression: Compression) -> None:
    batch = build_batch(RECORDS, compression=compression)
    for given_as in (batch, bytearray(batch), memoryview(batch)):
        assert read_records(given_as) == RECORDS


def test_records_do_not_hold_on_to_the_buffer_they_came_from() -> None:
    buffer = bytearray(build_batch(RECORDS))
    records = read_records(memoryview(buffer))
    buffer[:] = bytes(len(buffer))
    assert records == RECORDS


def test_every_negative_length_is_null_as_for_kafkas_readers() -> None:
    payload = bytes.fromhex("0c 00 00 00 03 05 00")
    assert read_records(batch_with_payload(payload)) == [Record(0, 0, None, None)]


def test_a_header_key_that_is_not_utf_8_survives_a_round_trip() -> None:
    payload = bytes.fromhex("14 00 00 00 01 01 02 04 c3 28 01")
    (record,) = read_records(batch_with_payload(payload))
    assert build_batch([record])[HEADER_BYTES:] == payload


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        ("", "record 0 of 1 passes the end"),
        ("80", "record 0 of 1 passes the end"),
        ("01", "a record of -1 bytes"),
        ("0e 00 00 00 01 01 00", "a record of 7 bytes at 1 passes the end, 7"),
        ("feffffff0f 00 00 00 01 01 00", "a record of 2147483647 bytes"),
        ("ffffffffff0f 00 00 00 01 01 00", "longer than 32 bits"),
        ("0c 00 ffffffffffffffffffff00 00 01 01 00", "longer than 64 bits"),
        ("0c 00 00 00 04 01 00", "passes the end"),
        ("0c 00 00 00 0a 01 00", "5 bytes at 5 pass the end, 7"),
        ("0c 00 00 00 01 08 00", "4 bytes at 6 pass the end, 7"),
        ("0c 00 00 00 01 01 01", "says it has -1 headers"),
        ("0c 00 00 00 01 01 02", "passes the end"),
        ("10 00 00 00 01 01 02 01 01", "header without a key"),
        ("0a 00 00 00 01 01 00", "should end at 6 ends at 7"),
        ("0e 00 00 00 01 01 00 00", "should end at 8 ends at 7"),
        ("0c 00 00 00 01 01 00 00", "1 bytes follow the last"),
    ],
)
def test_malformed_records_are_refused_with_what_is_wrong(payload: str, complaint: str) -> None:
    with pytest.raises(InvalidRecordBatch, match=complaint):
        read_records(batch_with_payload(bytes.fromhex(payload)))


@pytest.mark.parametrize(
    ("record_count", "complaint"), [(4, "record 3 of 4"), (2, "follow the last of 2 records"), (-1, "-1 records")]
)
def test_another_count_of_records_than_there_are_is_refused(record_count: int, complaint: str) -> None:
    with pytest.raises(InvalidRecordBatch, match=complaint):
        read_records(with_header(build_batch(RECORDS), record_count=record_count))


def test_a_huge_claimed_count_takes_no_memory() -> None:
    # A thousand records of 7 bytes, claimed to be two billion, each claiming two billion headers.
    payload = bytes.fromhex("0c 00 00 00 01 01 00") * 1000 + bytes.fromhex("14 00 00 00 01 01 feffffff0f")
    batch = batch_with_payload(payload, record_count=2**31 - 1)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidRecordBatch):
            read_records(batch)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_length_field_that_disagrees_with_the_bytes_is_refused() -> None:
    batch = build_batch(RECORDS)
    for cut in (batch[:-1], batch + b"\x00"):
        with pytest.raises(InvalidRecordBatch, match="bytes and has"):
            read_records(cut)


def test_only_format_2_is_read() -> None:
    batch = bytearray(build_batch(RECORDS))
    batch[16] = 1
    with pytest.raises(InvalidRecordBatch, match="magic 1"):
        read_records(batch)


@pytest.mark.parametrize("compression", [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD])
def test_a_compressed_batch_is_read_up_to_the_limit_only(
    compression: Compression, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = build_batch([Record(timestamp_ms=0, value=bytes(100_000))], compression=compression)
    for limit, is_enough in ((101_000, True), (99_999, False)):
        monkeypatch.setattr("fencepost.records.compression.DECOMPRESSED_BYTES_MAX", limit)
        if is_enough:
            assert len(read_records(batch)) == 1
            continue
        with pytest.raises(InvalidRecordBatch, match="limit of 99999 bytes"):
            read_records(batch)


# Batches of the common kind are read in another way: with the same outcome, for good batches and for bad ones.

INT64 = st.integers(-(2**63), 2**63 - 1)
blobs = st.none() | st.binary(max_size=20) | st.sampled_from([b"x" * size for size in (63, 64, 127, 128, 8191, 8192)])
records_of_any_kind = st.builds(
    Record,
    timestamp_ms=INT64 | st.integers(1_700_000_000_000, 1_700_000_020_000),
    key=blobs,
    value=blobs,
    headers=st.just(()) | st.lists(st.tuples(st.text(max_size=3), blobs), max_size=2).map(tuple),
)


def outcome(read: Callable[[bytes], list[Record]], batch: bytes) -> list[Record] | str:
    try:
        return read(batch)
    except InvalidRecordBatch as problem:
        return str(problem)


def read_plainly(batch: bytes) -> list[Record]:
    header = read_header(batch)
    return reader._read_any(reader.read_payload(batch, header), header)


@settings(deadline=None, max_examples=300)
@given(
    records=st.lists(records_of_any_kind, min_size=1, max_size=70),
    compression=st.sampled_from([Compression.NONE, Compression.GZIP]),
    append_time_ms=st.none() | st.integers(0, 2**40),
    base_offset=st.integers(0, 2**62),
)
def test_batches_are_read_as_the_plain_way_reads_them(
    records: list[Record], compression: Compression, append_time_ms: int | None, base_offset: int
) -> None:
    batch = build_batch(records, compression=compression, append_time_ms=append_time_ms, base_offset=base_offset)
    assert read_records(memoryview(batch)) == read_plainly(batch)


@settings(deadline=None, max_examples=1000)
@given(payload=st.binary(max_size=40), count=st.integers(-1, 4))
@example(payload=bytes([16, 0, 0, 0, 3, 2, 2, 0, 0]), count=1)
@example(payload=bytes([12, 0, 0, 0, 3, 2, 0]), count=1)
@example(payload=bytes([20, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1, 1, 0]), count=1)
@example(payload=bytes([22, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1, 1, 0]), count=1)
def test_whatever_the_bytes_are_the_outcome_is_that_of_the_plain_way(payload: bytes, count: int) -> None:
    batch = batch_with_payload(payload, record_count=count)
    assert outcome(read_records, batch) == outcome(read_plainly, batch)


@settings(deadline=None, max_examples=500)
@given(records=st.lists(records_of_any_kind, min_size=1, max_size=4), at=st.integers(0, 200), byte=st.integers(0, 255))
def test_a_changed_byte_changes_both_readings_alike(records: list[Record], at: int, byte: int) -> None:
    batch = bytearray(build_batch(records))
    batch[HEADER_BYTES + at % (len(batch) - HEADER_BYTES)] = byte
    assert outcome(read_records, bytes(batch)) == outcome(read_plainly, bytes(batch))
