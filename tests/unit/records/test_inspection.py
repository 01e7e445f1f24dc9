import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.records import compression
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression, compress
from fencepost.records.header import HEADER_BYTES, read_header, write_header
from fencepost.records.inspection import validate_keyed_records, validate_record_lengths
from fencepost.records.record import Record

PLAIN = "0c 00 00 00 00 01 00"
"""One record: empty key, null value, no headers."""
RECORDS = [
    Record(timestamp_ms=1000, key=b"k", value=b"v" * 200, headers=(("h", b"x"), ("n", None))),
    Record(timestamp_ms=900, key=b"", value=None),
    Record(timestamp_ms=1100, key=b"l", value=b""),
]


def batch_of(payload: str, *, record_count: int = 1, codec: Compression = Compression.NONE) -> bytes:
    """A batch whose header is right and whose records are whatever the test says."""
    header = read_header(build_batch([Record(timestamp_ms=0)] * record_count))._replace(attributes=codec)
    data = compress(bytes.fromhex(payload), codec)
    return write_header(header, data) + data


def inside(batch: bytes) -> Refusal | None:
    return validate_keyed_records(batch, read_header(batch))


def lengths(batch: bytes) -> Refusal | None:
    return validate_record_lengths(batch, read_header(batch))


@pytest.mark.parametrize("codec", list(Compression))
@pytest.mark.parametrize("count", [1, 2, 3, 3000])
def test_good_records_pass_at_both_depths(codec: Compression, count: int) -> None:
    batch = build_batch((RECORDS * 1000)[:count], compression=codec)
    assert lengths(batch) is None
    assert inside(batch) is None
    assert validate_keyed_records(memoryview(batch), read_header(batch)) is None
    assert validate_record_lengths(memoryview(batch), read_header(batch)) is None


def test_a_count_that_cannot_be_true_does_not_get_to_read_what_lies_behind_the_batch() -> None:
    batch = batch_of(PLAIN, record_count=2)
    for count in (len(batch) - HEADER_BYTES + 1, 2**31 - 1):
        claimed = write_header(read_header(batch)._replace(record_count=count), batch[HEADER_BYTES:])
        frame = memoryview(claimed + batch[HEADER_BYTES:] + bytes(1_000_000))
        refusal = validate_record_lengths(frame[: len(batch)], read_header(claimed))
        assert refusal is not None
        assert f"{count} records" in refusal.message


def test_a_problem_among_many_records_is_placed_in_the_payload() -> None:
    payload = bytes.fromhex(PLAIN) * 40 + bytes.fromhex("01") * 20
    batch = write_header(read_header(build_batch([Record(timestamp_ms=0)] * 45)), payload) + payload
    header = read_header(batch)
    expected = validate_record_lengths(batch, header)
    assert expected is not None
    assert f"at {40 * 7 + 1} " in expected.message
    assert validate_record_lengths(memoryview(bytes(1000) + batch)[1000:], header) == expected


MALFORMED = [
    ("", 1),
    ("80", 1),
    ("01", 1),
    ("0e 00 00 00 00 01 00", 1),
    ("feffffff0f 00 00 00 00 01 00", 1),
    ("ffffffffff0f 00 00 00 00 01 00", 1),
    (PLAIN, 2),
    (PLAIN + PLAIN, 1),
    (PLAIN + "00", 1),
]
MALFORMED_INSIDE = [
    ("0c 00 ffffffffffffffffffff00 00 00 01 00", 1),
    ("0c 00 00 00 04 01 00", 1),
    ("0c 00 00 00 0a 01 00", 1),
    ("0c 00 00 00 00 08 00", 1),
    ("0c 00 00 00 00 01 01", 1),
    ("0c 00 00 00 00 01 02", 1),
    ("10 00 00 00 00 01 02 01 01", 1),
    ("10 00 00 00 00 01 04 00 01", 1),
    ("0a 00 00 00 00 01 00", 1),
    ("0e 00 00 00 00 01 00 00", 1),
    ("00", 1),
]


@pytest.mark.parametrize(("payload", "record_count"), MALFORMED + MALFORMED_INSIDE)
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_malformed_records_are_invalid(payload: str, record_count: int, codec: Compression) -> None:
    refused = inside(batch_of(payload, record_count=record_count, codec=codec))
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert "no key" not in refused.message


@pytest.mark.parametrize(("payload", "record_count"), MALFORMED)
def test_hopping_over_lengths_finds_a_wrong_count_or_extent(payload: str, record_count: int) -> None:
    refused = lengths(batch_of(payload, record_count=record_count))
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_RECORD


def of_sizes(sizes: list[int]) -> list[Record]:
    return [Record(timestamp_ms=0, value=bytes(size)) for size in sizes]


@pytest.mark.parametrize(
    "sizes",
    [
        [100] * 9000,
        [20] * 33 + [21] * 32 + [20] * 31 + [200] * 500 + [20_000] * 40,
        [size for size in range(300) for _ in range(size % 70)],
        [size % 97 for size in range(3000)],
    ],
)
def test_records_of_one_size_and_of_many_are_counted_alike(sizes: list[int]) -> None:
    batch = build_batch(of_sizes(sizes))
    payload = bytearray(batch[HEADER_BYTES:])
    header = read_header(batch)
    assert lengths(batch) is None
    for count in (len(sizes) - 1, len(sizes) + 1):
        wrong = write_header(header._replace(record_count=count), payload) + payload
        assert lengths(wrong) is not None
    cut_short = write_header(header, payload[:-1]) + payload[:-1]
    assert lengths(cut_short) is not None


@pytest.mark.parametrize("damaged", [0, 1, 31, 32, 33, 63, 64, 500, 998, 999])
@pytest.mark.parametrize("change", [1, 2, -2])
def test_one_wrong_length_among_a_thousand_of_one_size_is_found(damaged: int, change: int) -> None:
    """Lengths of two bytes; the first holds the sign and the low bits."""
    batch = bytearray(build_batch([Record(timestamp_ms=0, value=bytes(100))] * 64 + of_sizes([99] * 936)))
    size_bytes = (len(batch) - HEADER_BYTES) // 1000
    batch[HEADER_BYTES + damaged * size_bytes] += change
    assert lengths(bytes(batch)) is not None


def test_hopping_over_lengths_does_not_open_a_compressed_batch() -> None:
    assert lengths(batch_of("", codec=Compression.ZSTD)) is None


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.LZ4])
@pytest.mark.parametrize("second_delta", ["00", "04", "01"])
def test_offset_deltas_count_from_0_without_gaps(codec: Compression, second_delta: str) -> None:
    batch = batch_of(f"{PLAIN} 0c 00 00 {second_delta} 00 01 00", record_count=2, codec=codec)
    refused = inside(batch)
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert "record 1 has offset delta" in refused.message


def test_a_compacted_topic_needs_keys() -> None:
    refused = inside(build_batch([Record(timestamp_ms=0, key=b""), Record(timestamp_ms=0, value=b"v")]))
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert "record 1 has no key" in refused.message


def test_a_compressed_batch_that_grows_past_the_limit_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "DECOMPRESSED_BYTES_MAX", 50_000)
    batch = build_batch([Record(timestamp_ms=0, value=bytes(100_000))], compression=Compression.ZSTD)
    refused = inside(batch)
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert "limit of 50000 bytes" in refused.message


def test_a_payload_that_its_codec_cannot_read_is_invalid() -> None:
    header = read_header(build_batch([Record(timestamp_ms=0)]))._replace(attributes=Compression.ZSTD)
    batch = write_header(header, b"garbage") + b"garbage"
    refused = inside(batch)
    assert refused is not None
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert "ZSTD" in refused.message
