import gzip
import random
import struct
import tracemalloc

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records.compression import Compression, compress, decompress
from fencepost.records.record import InvalidRecordBatch

COMPRESSING = [Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD]
MEGABYTE = 1024 * 1024
ZSTD_RLE_BLOCK = ((0x20000 << 3) | 0b010).to_bytes(3, "little") + b"A"
"""Four bytes that stand for 128 KB."""


def zstd_bomb(block_count: int) -> bytes:
    """A frame that asks for a window of 128 MB and repeats one byte `block_count` times 128 KB."""
    return b"\x28\xb5\x2f\xfd\x00" + bytes([17 << 3]) + ZSTD_RLE_BLOCK * block_count


def bomb(codec: Compression) -> bytes:
    return zstd_bomb(10_000) if codec == Compression.ZSTD else compress(bytes(50 * MEGABYTE), codec)


@pytest.mark.parametrize("codec", list(Compression))
@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(0, 3000))
def test_what_was_compressed_comes_back(codec: Compression, data: bytes, repeat: int) -> None:
    data *= repeat
    assert decompress(compress(data, codec), codec) == data
    assert decompress(memoryview(compress(memoryview(data), codec)), codec, decompressed_bytes_max=len(data)) == data


def test_the_numbers_are_those_of_the_attribute_bits() -> None:
    assert {codec.name.lower(): int(codec) for codec in Compression} == {
        "none": 0,
        "gzip": 1,
        "snappy": 2,
        "lz4": 3,
        "zstd": 4,
    }


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_payload_may_grow_up_to_the_limit_and_not_past_it(codec: Compression) -> None:
    for size_bytes in (1, 70_000, 3 * MEGABYTE):
        compressed = compress(b"x" * size_bytes, codec)
        assert len(decompress(compressed, codec, decompressed_bytes_max=size_bytes)) == size_bytes
        with pytest.raises(InvalidRecordBatch, match=f"limit of {size_bytes - 1} bytes"):
            decompress(compressed, codec, decompressed_bytes_max=size_bytes - 1)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_bomb_is_refused_before_memory_for_it_is_taken(codec: Compression) -> None:
    payload = bomb(codec)
    arrow_peak_bytes = pa.default_memory_pool().max_memory()
    tracemalloc.start()
    try:
        with pytest.raises(InvalidRecordBatch):
            decompress(payload, codec, decompressed_bytes_max=MEGABYTE)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 8 * MEGABYTE + len(payload)
    assert pa.default_memory_pool().max_memory() <= max(arrow_peak_bytes, 8 * MEGABYTE + len(payload))


@pytest.mark.parametrize("codec", COMPRESSING)
@pytest.mark.parametrize("cut", [1, 3, 20])
def test_a_payload_cut_short_is_refused(codec: Compression, cut: int) -> None:
    compressed = compress(bytes(range(256)) * 1000, codec)
    with pytest.raises(InvalidRecordBatch):
        decompress(compressed[:-cut], codec)


@pytest.mark.parametrize("codec", COMPRESSING)
@settings(deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_garbage_is_refused_with_the_one_error(codec: Compression, garbage: bytes) -> None:
    def outcome() -> str:
        try:
            return f"{codec.name}: {decompress(garbage, codec, decompressed_bytes_max=MEGABYTE)!r}"
        except InvalidRecordBatch as error:
            return str(error)

    assert outcome().startswith(codec.name)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_nobody_defined_is_refused(codec: int) -> None:
    with pytest.raises(InvalidRecordBatch, match=f"codec {codec}"):
        decompress(b"abc", codec)


def test_gzip_members_in_a_row_are_one_payload_under_one_limit() -> None:
    payload = gzip.compress(b"first ") + gzip.compress(b"") + gzip.compress(b"second")
    assert decompress(payload, Compression.GZIP, decompressed_bytes_max=12) == b"first second"
    with pytest.raises(InvalidRecordBatch, match="limit"):
        decompress(payload, Compression.GZIP, decompressed_bytes_max=11)
    with pytest.raises(InvalidRecordBatch, match="GZIP"):
        decompress(payload + b"tail", Compression.GZIP)


def test_many_empty_gzip_members_cost_time_in_proportion_to_their_bytes() -> None:
    payload = gzip.compress(b"") * 50_000
    assert decompress(payload, Compression.GZIP) == b""


def test_snappy_is_written_in_xerial_blocks_of_32_kilobytes() -> None:
    payload = compress(bytes(70_000), Compression.SNAPPY)
    assert payload[:16] == b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    sizes = []
    position = 16
    while position < len(payload):
        (length,) = struct.unpack_from(">i", payload, position)
        block = payload[position + 4 : position + 4 + length]
        sizes.append(len(decompress(block, Compression.SNAPPY)))
        position += 4 + length
    assert sizes == [32768, 32768, 4464]


def test_snappy_is_read_raw_as_librdkafka_sends_it() -> None:
    raw = pa.Codec("snappy").compress(b"raw block " * 50, asbytes=True)
    assert decompress(raw, Compression.SNAPPY) == b"raw block " * 50


def test_xerial_version_fields_may_have_either_byte_order() -> None:
    block = pa.Codec("snappy").compress(b"abc", asbytes=True)
    payload = b"\x82SNAPPY\x00" + struct.pack("<ii", 1, 1) + struct.pack(">i", len(block)) + block
    assert decompress(payload, Compression.SNAPPY) == b"abc"


@pytest.mark.parametrize(
    "blocks",
    [b"\x00", b"\x00\x00\x00", struct.pack(">i", 5) + b"abcd", struct.pack(">i", -1), struct.pack(">i", 2**31 - 1)],
)
def test_a_xerial_block_that_passes_the_end_is_refused(blocks: bytes) -> None:
    with pytest.raises(InvalidRecordBatch, match="SNAPPY"):
        decompress(compress(b"abc", Compression.SNAPPY) + blocks, Compression.SNAPPY)


def test_a_snappy_block_cannot_claim_more_than_its_bytes_can_say() -> None:
    claim = b"\xff\xff\xff\x1f"
    with pytest.raises(InvalidRecordBatch, match="cannot hold the 67108863"):
        decompress(claim + b"\x00a", Compression.SNAPPY)


def test_the_densest_snappy_block_is_within_what_is_believed() -> None:
    zeros = bytes(4 * MEGABYTE)
    assert decompress(pa.Codec("snappy").compress(zeros, asbytes=True), Compression.SNAPPY) == zeros


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 65_537, 300_000])
def test_lz4_frames_have_independent_blocks_as_kafka_asks(size_bytes: int) -> None:
    for data in (bytes(size_bytes), random.Random(1).randbytes(size_bytes)):
        frame = compress(data, Compression.LZ4)
        assert frame[:4] == b"\x04\x22\x4d\x18"
        assert frame[4] == 0b0110_0000
        assert decompress(frame, Compression.LZ4) == data
        assert len(frame) <= size_bytes + 7 + 4 * (size_bytes // 65_536 + 2)


def test_lz4_frames_of_linked_blocks_are_read() -> None:
    data = bytes(range(256)) * 2000
    frame = pa.Codec("lz4").compress(data, asbytes=True)
    assert frame[4] & 0b0010_0000 == 0
    assert decompress(frame, Compression.LZ4) == data
