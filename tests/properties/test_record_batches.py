"""Record batches hold whatever the types allow, and nothing that is done to their bytes breaks a reader.

Mutated batches get a right length and checksum again, as from a hostile client: the checksum must not be what saves the
reader.
"""

import tracemalloc
from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records import compression
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression, compress, decompress
from fencepost.records.control import ControlMarker, build_marker, read_marker
from fencepost.records.header import (
    HEADER_BYTES,
    STAMP_BYTES,
    BatchHeader,
    check_crc,
    read_header,
    rewrite_header,
    split_batches,
    stamp,
    write_header,
)
from fencepost.records.inspection import validate_keyed_records, validate_record_lengths
from fencepost.records.reader import read_records
from fencepost.records.record import Headers, InvalidRecordBatch, Record
from fencepost.records.validation import recompress, validate_client_batch, validate_record_set, with_append_time

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
DECOMPRESSED_BYTES_MAX = 1_000_000


@pytest.fixture(autouse=True, scope="module")
def _lower_limit() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression, "DECOMPRESSED_BYTES_MAX", DECOMPRESSED_BYTES_MAX)
        yield


nullable_bytes = st.none() | st.binary(max_size=200)
header_keys = st.text(max_size=20) | st.binary(max_size=20).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
record_headers = st.lists(st.tuples(header_keys, nullable_bytes), max_size=4).map(tuple)


def number(drawn: list[tuple[int, bytes | None, bytes | None, Headers]]) -> list[Record]:
    return [Record(offset, *fields) for offset, fields in enumerate(drawn)]


def records(*, min_size: int = 1) -> st.SearchStrategy[list[Record]]:
    fields = st.tuples(INT64, nullable_bytes, nullable_bytes, record_headers)
    return st.lists(fields, min_size=min_size, max_size=12).map(number)


CORPUS = [
    Record(timestamp_ms=1_700_000_000_000, key=b"key", value=b"value" * 30),
    Record(timestamp_ms=1_700_000_000_001),
    Record(timestamp_ms=-1, key=b"", value=b""),
    Record(timestamp_ms=2**62, key=b"k" * 70, value=None, headers=(("header", b"x"), ("", None), ("ü", b""))),
    Record(timestamp_ms=5, value=bytes(range(256)) * 4, headers=tuple((str(n), b"%d" % n) for n in range(70))),
]

codecs = st.sampled_from(Compression)
headers = st.builds(
    BatchHeader,
    base_offset=INT64,
    batch_length=st.just(49),
    leader_epoch=INT32,
    magic=st.integers(-128, 127),
    crc=st.integers(0, 2**32 - 1),
    attributes=INT16,
    last_offset_delta=INT32,
    base_timestamp=INT64,
    max_timestamp=INT64,
    producer_id=INT64,
    producer_epoch=INT16,
    base_sequence=INT32,
    record_count=INT32,
)


@settings(deadline=None)
@given(records(), codecs, INT64, st.integers(0, 2**62), INT16, INT32, INT32, st.booleans())
def test_everything_a_batch_holds_comes_back(
    given_records: list[Record],
    codec: Compression,
    producer_id: int,
    base_offset: int,
    producer_epoch: int,
    base_sequence: int,
    leader_epoch: int,
    is_transactional: bool,
) -> None:
    asked = {
        "base_offset": base_offset,
        "leader_epoch": leader_epoch,
        "producer_id": producer_id,
        "producer_epoch": producer_epoch,
        "base_sequence": base_sequence,
        "is_transactional": is_transactional,
    }
    batch = build_batch(given_records, compression=codec, **asked)
    header = read_header(batch)
    assert check_crc(batch)
    assert read_records(batch) == [record._replace(offset=base_offset + record.offset) for record in given_records]
    assert {name: getattr(header, name) for name in asked} == asked
    assert (header.compression, header.is_control, header.magic) == (codec, False, 2)
    assert (header.record_count, header.last_offset) == (len(given_records), base_offset + len(given_records) - 1)
    assert header.base_timestamp == given_records[0].timestamp_ms
    assert header.max_timestamp == max(record.timestamp_ms for record in given_records)
    assert (validate_keyed_records(batch, header) is None) is all(record.key is not None for record in given_records)
    assert validate_record_lengths(batch, header) is None


@settings(deadline=None)
@given(records(min_size=0), st.sets(st.integers(0, 12)), codecs, st.none() | INT64)
def test_a_thinned_out_batch_keeps_what_was_kept(
    given_records: list[Record], kept: set[int], codec: Compression, delete_horizon_ms: int | None
) -> None:
    survivors = [record for record in given_records if record.offset in kept]
    batch = build_batch(
        survivors,
        compression=codec,
        base_offset=0,
        last_offset_delta=len(given_records),
        delete_horizon_ms=delete_horizon_ms,
    )
    assert check_crc(batch)
    assert read_records(batch) == survivors
    assert read_header(batch).last_offset == len(given_records)
    assert read_header(batch).delete_horizon_ms == delete_horizon_ms


@settings(deadline=None)
@given(headers, headers, st.binary(max_size=2000) | st.integers(0, 3_000_000).map(bytes), st.integers(0))
def test_another_header_leaves_the_checksum_as_right_or_as_wrong_as_it_was(
    before: BatchHeader, after: BatchHeader, payload: bytes, damaged: int
) -> None:
    batch = bytearray(write_header(before, payload) + payload)
    rewrite_header(batch, after)
    assert batch == write_header(after, payload) + payload
    if payload:
        batch[HEADER_BYTES + damaged % len(payload)] ^= 1
        rewrite_header(memoryview(batch), before)
        assert not check_crc(batch)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 150), st.integers(1, 100)), min_size=1, max_size=6),
    st.binary(max_size=40),
    st.binary(max_size=400),
    st.integers(-3, 3),
    st.integers(-40, 40),
)
def test_lengths_are_judged_alike_wherever_a_batch_lies_and_whatever_lies_around_it(
    runs: list[tuple[int, int]], before: bytes, after: bytes, count_change: int, size_change: int
) -> None:
    """Runs of records of one size are passed over together: what a frame holds behind the batch is no part of it."""
    values = [b"v" * size_bytes for size_bytes, count in runs for _ in range(count)]
    whole = build_batch([Record(timestamp_ms=5, key=b"", value=value) for value in values])
    payload = (whole + after)[HEADER_BYTES : max(HEADER_BYTES, len(whole) + size_change)]
    record_count = max(0, len(values) + count_change)
    batch = write_header(read_header(whole)._replace(record_count=record_count), payload) + payload
    header = read_header(batch)
    is_right = validate_record_lengths(batch, header) is None
    if count_change == 0 and size_change == 0:
        assert is_right
    elif count_change == 0:
        assert is_right is (payload == whole[HEADER_BYTES:])
    for around in (bytes, bytearray):
        frame = memoryview(around(before + batch + after)).toreadonly()
        inside = frame[len(before) : len(before) + len(batch)]
        assert (validate_record_lengths(inside, header) is None) is is_right
        assert (validate_keyed_records(inside, header) is None) is is_right


@settings(deadline=None)
@given(headers, st.binary(max_size=100), INT64, INT32)
def test_every_header_is_read_as_it_was_written_and_stamping_leaves_the_checksum_right(
    header: BatchHeader, payload: bytes, base_offset: int, leader_epoch: int
) -> None:
    batch = write_header(header, payload) + payload
    written = read_header(batch)
    assert written == header._replace(batch_length=49 + len(payload), crc=written.crc)
    assert check_crc(batch)
    stamped = stamp(written._replace(base_offset=base_offset, leader_epoch=leader_epoch)) + batch[STAMP_BYTES:]
    assert read_header(stamped) == written._replace(base_offset=base_offset, leader_epoch=leader_epoch)
    assert check_crc(stamped)


@settings(deadline=None)
@given(records(), codecs, codecs, INT64)
def test_rewriting_changes_only_what_it_says(
    given_records: list[Record], codec: Compression, target: Compression, now_ms: int
) -> None:
    batch = build_batch(given_records, compression=codec, base_offset=0, producer_id=7, is_transactional=True)
    header = read_header(batch)
    recompressed = recompress(memoryview(batch), target)
    found = read_header(recompressed)
    assert check_crc(recompressed)
    assert (found.compression, found.size_bytes) == (target, len(recompressed))
    assert found == header._replace(
        crc=found.crc, batch_length=found.batch_length, attributes=header.attributes & ~0x07 | target
    )
    assert read_records(recompressed) == given_records
    assert target != codec or recompressed == batch
    appended = with_append_time(memoryview(batch), now_ms)
    found = read_header(appended)
    assert check_crc(appended)
    assert found == header._replace(crc=found.crc, attributes=header.attributes | 0x08, max_timestamp=now_ms)
    assert read_records(appended) == [record._replace(timestamp_ms=now_ms) for record in given_records]
    assert read_records(recompress(appended, target)) == read_records(appended)


@settings(deadline=None)
@given(INT64, INT16, st.booleans(), INT32, INT64)
def test_every_marker_is_78_bytes_and_comes_back(
    producer_id: int, producer_epoch: int, is_commit: bool, coordinator_epoch: int, timestamp_ms: int
) -> None:
    marker = ControlMarker(producer_id, producer_epoch, is_commit, coordinator_epoch, timestamp_ms)
    batch = build_marker(**marker._asdict())
    assert len(batch) == 78
    assert read_marker(batch) == marker


@settings(deadline=None)
@given(st.lists(records(), max_size=4), st.integers(0, 200))
def test_batches_in_a_row_are_split_where_they_were_joined(batches: list[list[Record]], cut: int) -> None:
    built = [build_batch(batch) for batch in batches]
    joined = b"".join(built)
    assert [bytes(batch) for _, batch in split_batches(joined)] == built
    whole = [bytes(batch) for _, batch in split_batches(joined[: max(0, len(joined) - cut)], drop_partial_tail=True)]
    assert whole == built[: len(whole)]
    assert len(joined) - sum(map(len, whole)) - cut < max(map(len, built), default=1)


def resealed(codec: int, payload: bytes, record_count: int) -> bytes:
    header = read_header(build_batch([Record(timestamp_ms=0)]))
    header = header._replace(attributes=codec, record_count=record_count, last_offset_delta=record_count & 0x7FFFFFFF)
    return write_header(header, payload) + payload


SPLICES = [b"", b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff\xff\xff\xff\x0f", b"\xfe\xff\xff\xff\x0f", b"\x80" * 11]


def mutated(data: bytes, random: Random) -> bytes:
    result = bytearray(data)
    for _ in range(random.choice((0, 1, 1, 1, 2, 5))):
        position = random.randrange(len(result) + 1)
        splice = random.choice(SPLICES) if random.random() < 0.5 else random.randbytes(random.randrange(1, 4))
        result[position : position + random.choice((0, len(splice), 1, 4))] = splice
    return bytes(result)


@pytest.mark.parametrize("codec", list(Compression))
@pytest.mark.parametrize("is_under_the_compression", [True, False])
def test_a_mutated_batch_is_read_or_refused_and_both_checks_agree_with_the_reader(
    codec: Compression, is_under_the_compression: bool
) -> None:
    random = Random(f"{codec.name} {is_under_the_compression}")
    read_count = refused_count = 0
    for _ in range(2000):
        payload = build_batch(random.choices(CORPUS, k=random.randrange(1, 6)))[HEADER_BYTES:]
        if is_under_the_compression:
            payload = compress(mutated(payload, random), codec)
        else:
            payload = mutated(compress(payload, codec), random)
        batch = resealed(codec, payload, random.choice((1, 2, 3, 4, 5, 6, 2**31 - 1)))
        header = read_header(batch)
        refusal = validate_keyed_records(batch, header)
        try:
            read = read_records(batch)
        except InvalidRecordBatch:
            refused_count += 1
            assert refusal is not None
        else:
            read_count += 1
            is_in_sequence = [record.offset for record in read] == list(range(header.record_count))
            has_keys = all(record.key is not None for record in read)
            assert (refusal is None) is (is_in_sequence and has_keys)
            assert validate_record_lengths(batch, header) is None
    assert read_count > 50
    assert refused_count > 500


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400), st.binary(max_size=20))
def test_any_bytes_are_answered_with_a_value_or_the_one_error(noise: bytes, position: int, splice: bytes) -> None:
    spliced = bytearray(build_batch([Record(timestamp_ms=5, key=b"k", value=b"v" * 100, headers=(("h", b"x"),))]))
    spliced[position : position + len(splice)] = splice
    for given_bytes in (noise, bytes(spliced)):
        validate_record_set(given_bytes, produce_version=9)
        outcome = validate_client_batch(given_bytes, max_message_bytes=1000, segment_bytes=1000)
        if isinstance(outcome, BatchHeader):
            assert check_crc(given_bytes)
        for read in (read_records, lambda batch: list(split_batches(batch))):
            try:
                assert isinstance(read(given_bytes), list)
            except InvalidRecordBatch as error:
                complaint = str(error)
                assert complaint


@pytest.mark.parametrize("codec", list(Compression))
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_memory_follows_the_bytes_that_are_there(codec: Compression, data: st.DataObject) -> None:
    """What is claimed (two billion records, any decompressed size) is never allocated."""
    payload = bytearray(compress(build_batch([Record(timestamp_ms=0, value=bytes(500))] * 20)[HEADER_BYTES:], codec))
    position = data.draw(st.integers(0, len(payload)))
    payload[position : position + 4] = data.draw(st.binary(min_size=4, max_size=8))
    batch = resealed(codec, bytes(payload), 2**31 - 1)
    arrow_peak_bytes = pa.default_memory_pool().max_memory()
    tracemalloc.start()
    try:
        with pytest.raises(InvalidRecordBatch):
            read_records(batch)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 4 * DECOMPRESSED_BYTES_MAX
    assert pa.default_memory_pool().max_memory() <= max(arrow_peak_bytes, 4 * DECOMPRESSED_BYTES_MAX)


@settings(deadline=None)
@given(codecs, st.binary(max_size=2000), st.integers(0, 2000))
def test_the_limit_is_exact_for_every_codec(codec: Compression, data: bytes, limit_bytes: int) -> None:
    compressed = compress(data, codec)
    if codec == Compression.NONE or len(data) <= limit_bytes:
        assert decompress(compressed, codec, decompressed_bytes_max=limit_bytes) == data
    else:
        with pytest.raises(InvalidRecordBatch, match=f"limit of {limit_bytes} bytes"):
            decompress(compressed, codec, decompressed_bytes_max=limit_bytes)
