import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import HEADER_BYTES, BatchHeader, read_header, write_header
from fencepost.records.record import Record
from fencepost.records.validation import refuse_size, validate_client_batch, validate_record_set

GOOD = build_batch(
    [Record(timestamp_ms=1, value=b"a"), Record(timestamp_ms=2, value=b"b")],
    producer_id=7,
    producer_epoch=0,
    base_sequence=0,
    is_transactional=True,
)


def altered(batch: bytes = GOOD, **fields: int) -> bytes:
    """`batch` with other header fields and the checksum that goes with them."""
    payload = batch[HEADER_BYTES:]
    header = BatchHeader(**{**read_header(batch)._asdict(), **fields})
    return write_header(header, payload) + payload


def validate(
    batch: bytes, *, max_message_bytes: int = 1_000_000, segment_bytes: int = 1_000_000
) -> BatchHeader | Refusal:
    return validate_client_batch(batch, max_message_bytes=max_message_bytes, segment_bytes=segment_bytes)


def refusal(batch: bytes, **limits: int) -> Refusal:
    outcome = validate(batch, **limits)
    assert isinstance(outcome, Refusal), outcome
    return outcome


def set_refusal(records: bytes | None, *, produce_version: int = 9) -> Refusal:
    outcome = validate_record_set(records, produce_version=produce_version)
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("compression", list(Compression))
def test_a_good_batch_passes_and_gives_its_header(compression: Compression) -> None:
    batch = build_batch([Record(timestamp_ms=1, value=b"a")], compression=compression)
    assert validate_record_set(batch, produce_version=9) is None
    assert validate(memoryview(batch)) == read_header(batch)


def test_a_batch_exactly_as_large_as_the_limits_passes() -> None:
    assert isinstance(validate(GOOD, max_message_bytes=len(GOOD), segment_bytes=len(GOOD)), BatchHeader)


def test_a_base_offset_other_than_0_is_an_invalid_record() -> None:
    for base_offset in (1, -1, 2**62):
        refused = refusal(altered(base_offset=base_offset))
        assert refused.error_code == ErrorCode.INVALID_RECORD
        assert f"base offset {base_offset}" in refused.message


def test_a_batch_past_max_message_bytes_is_too_large() -> None:
    refused = refusal(GOOD, max_message_bytes=len(GOOD) - 1)
    assert refused.error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert f"{len(GOOD)} bytes: max.message.bytes of the topic is {len(GOOD) - 1}" in refused.message


def test_a_wrong_checksum_is_a_corrupt_message() -> None:
    for position in range(17, len(GOOD)):
        flipped = bytearray(GOOD)
        flipped[position] ^= 1
        assert refusal(bytes(flipped)).error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("given", [b"", GOOD[:60], GOOD[:-1], GOOD + b"\x00"])
def test_a_length_that_disagrees_with_the_bytes_is_a_corrupt_message(given: bytes) -> None:
    assert refusal(given).error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        (altered(magic=1), "magic 1"),
        (altered(last_offset_delta=-1, record_count=0), "last offset delta -1"),
        (altered(last_offset_delta=-(2**31), record_count=2), "offset range is empty"),
        (altered(record_count=0), "0 records"),
        (altered(record_count=-1), "-1 records"),
        (altered(record_count=3), "3 records and last offset delta 1"),
        (altered(last_offset_delta=5), "2 records and last offset delta 5"),
        (altered(attributes=0x30), "control batch"),
        (altered(base_sequence=-1), "producer id 7 and base sequence -1"),
        (altered(base_sequence=-(2**31)), "base sequence -2147483648"),
    ],
)
def test_each_entry_of_kafkas_list_is_an_invalid_record(batch: bytes, complaint: str) -> None:
    refused = refusal(batch)
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert complaint in refused.message


def test_a_batch_without_a_producer_needs_no_sequence() -> None:
    assert isinstance(validate(altered(producer_id=-1, base_sequence=-1)), BatchHeader)


def test_a_batch_past_segment_bytes_is_a_record_list_too_large() -> None:
    refused = refusal(GOOD, segment_bytes=len(GOOD) - 1)
    assert refused.error_code == ErrorCode.RECORD_LIST_TOO_LARGE
    assert f"segment.bytes of the topic is {len(GOOD) - 1}" in refused.message


def test_the_first_failure_in_kafkas_order_decides() -> None:
    corrupt = bytearray(altered(base_offset=1, attributes=0x20, last_offset_delta=-1, base_sequence=-1))
    corrupt[17] ^= 1
    too_small = {"max_message_bytes": 10, "segment_bytes": 10}
    assert "base offset" in refusal(bytes(corrupt), **too_small).message
    corrupt[0:8] = bytes(8)
    assert refusal(bytes(corrupt), **too_small).error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert refusal(bytes(corrupt), segment_bytes=10).error_code == ErrorCode.CORRUPT_MESSAGE
    corrupt[17] ^= 1
    assert "offset range" in refusal(bytes(corrupt), segment_bytes=10).message
    nothing_inside = altered(attributes=0x20, record_count=0, base_sequence=-1)
    assert "0 records" in refusal(nothing_inside, segment_bytes=10).message
    assert "control" in refusal(altered(attributes=0x20, base_sequence=-1), segment_bytes=10).message
    assert "sequence" in refusal(altered(base_sequence=-1), segment_bytes=10).message


def test_a_size_is_refused_as_the_batch_itself_would_be() -> None:
    assert refuse_size(100, max_message_bytes=100, segment_bytes=100) is None
    for limits, code in (
        ((99, 99), ErrorCode.MESSAGE_TOO_LARGE),
        ((100, 99), ErrorCode.RECORD_LIST_TOO_LARGE),
    ):
        refused = refuse_size(100, max_message_bytes=limits[0], segment_bytes=limits[1])
        assert refused is not None
        assert refused.error_code == code


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        *((records, "this partition has none") for records in (None, b"", b"short", GOOD[:16])),
        (GOOD[:-1], f"{len(GOOD)} bytes and {len(GOOD) - 1} were sent"),
        (GOOD + GOOD, f"{len(GOOD)} bytes follow the batch"),
        (GOOD + b"\x00", "1 bytes follow the batch"),
        (altered(magic=0), "magic 0"),
        (altered(magic=1), "magic 1"),
    ],
)
def test_anything_but_one_whole_batch_of_format_2_is_an_invalid_record(records: bytes | None, complaint: str) -> None:
    refused = set_refusal(records)
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert complaint in refused.message


@pytest.mark.parametrize("magic", [-1, 3, 127, -128])
def test_a_magic_that_no_format_uses_is_a_corrupt_message(magic: int) -> None:
    assert set_refusal(altered(magic=magic)).error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 13, 14, 48])
def test_a_length_too_small_for_a_batch_is_a_corrupt_message(length: int) -> None:
    records = bytearray(GOOD)
    records[8:12] = length.to_bytes(4, "big", signed=True)
    assert set_refusal(bytes(records)).error_code == ErrorCode.CORRUPT_MESSAGE


def test_zstd_takes_produce_version_7() -> None:
    batch = build_batch([Record(timestamp_ms=1)], compression=Compression.ZSTD)
    assert validate_record_set(batch, produce_version=7) is None
    refused = set_refusal(batch, produce_version=6)
    assert refused.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert "version 7, not 6" in refused.message


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_the_other_codecs_are_as_old_as_the_format(compression: Compression) -> None:
    batch = build_batch([Record(timestamp_ms=1)], compression=compression)
    assert validate_record_set(batch, produce_version=3) is None


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_undefined_codec_is_an_unsupported_compression_type(codec: int) -> None:
    refused = set_refusal(altered(attributes=codec))
    assert refused.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert f"codec {codec}" in refused.message
