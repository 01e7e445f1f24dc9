"""The four codecs of record batches, with a cap on what a payload may grow to.

gzip is the standard library's, the others are Arrow's. LZ4 is the frame format: Java clients read only frames of
independent blocks, and Arrow links the blocks of a larger payload, so the frame around them is written here. Snappy
comes in two shapes: Java and Python clients wrap blocks in xerial's stream format, librdkafka sends one raw block; both
are read, xerial's is written. `decompress` refuses a payload that would grow past its limit before taking
memory for it, and raises `InvalidRecordBatch` for anything that its codec cannot read. Arrow is loaded by the first
payload that needs it: a client that sends plain batches never does.
cramjam, lz4, zstandard and python-snappy are no faster in compressing (1 MB of JSON: lz4 209 and 231 MB/s, zstd 237 and
215, snappy 258 and 207), none of them writes xerial's format, and each is one more dependency; so Arrow's stay.
"""

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from enum import IntEnum
from typing import TYPE_CHECKING

from fencepost.records.record import InvalidRecordBatch
from fencepost.types import Buffer

if TYPE_CHECKING:
    import pyarrow as pa

DECOMPRESSED_BYTES_MAX = 128 * 1024 * 1024
"""The cap: far above what a producer puts in one batch, far below what a bomb makes of a megabyte."""

_GZIP_LEVEL = 6
_READ_BYTES_MIN = 64 * 1024
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_LZ4_HEADER = bytes.fromhex("04224d18 60 40 82")
"""Magic, independent blocks without checksums, blocks of 64 KB, checksum of the two bytes before."""
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_LENGTH = struct.Struct("<I")
_LZ4_STORED = 0x8000_0000
_SNAPPY_GROWTH_MAX = 64
"""Three bytes say "copy 64 bytes": no element grows more than 22 times, so a larger claim is a lie."""
_BLOCK_LENGTH = struct.Struct(">i")


class Compression(IntEnum):
    """The numbers of the attributes' three lowest bits; names in lower case are the values of `compression.type`."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(data: Buffer, codec: Compression) -> bytes:
    if codec == Compression.NONE:
        return bytes(data)
    if codec == Compression.GZIP:
        return gzip.compress(data, _GZIP_LEVEL, mtime=0)
    if codec == Compression.SNAPPY:
        return _compress_xerial(memoryview(data))
    if codec == Compression.LZ4:
        return _compress_lz4(memoryview(data))
    return bytes(_arrow_codec(codec).compress(data, asbytes=True))


def decompress(data: Buffer, codec: int, *, decompressed_bytes_max: int | None = None) -> bytes:
    if codec == Compression.NONE:
        return bytes(data)
    if codec not in Compression.__members__.values():
        raise InvalidRecordBatch(f"compression codec {codec} is not one of {', '.join(c.name for c in Compression)}")
    codec = Compression(codec)
    limit_bytes = DECOMPRESSED_BYTES_MAX if decompressed_bytes_max is None else decompressed_bytes_max
    import pyarrow as pa

    try:
        if codec == Compression.SNAPPY:
            return _decompress_snappy(memoryview(data), limit_bytes)
        return _decompress_stream(data, codec, limit_bytes)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        raise InvalidRecordBatch(f"{codec.name} payload cannot be read: {error}") from error


def _arrow_codec(codec: Compression) -> "pa.Codec":
    import pyarrow as pa

    return pa.Codec(codec.name.lower())


def _too_large(codec: Compression, limit_bytes: int) -> InvalidRecordBatch:
    return InvalidRecordBatch(f"{codec.name} payload grows past the limit of {limit_bytes} bytes")


def _decompress_stream(data: Buffer, codec: Compression, limit_bytes: int) -> bytes:
    """Reads in growing steps, so that what is allocated follows what is really there."""
    import pyarrow as pa

    stream = (
        gzip.GzipFile(fileobj=io.BytesIO(data))
        if codec == Compression.GZIP
        else pa.CompressedInputStream(pa.BufferReader(data), codec.name.lower())
    )
    pieces: list[bytes] = []
    size_bytes = 0
    step_bytes = max(_READ_BYTES_MIN, 4 * len(data))
    while piece := stream.read(min(step_bytes, limit_bytes - size_bytes + 1)):
        pieces.append(piece)
        size_bytes += len(piece)
        if size_bytes > limit_bytes:
            raise _too_large(codec, limit_bytes)
        step_bytes *= 2
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _compress_xerial(data: memoryview) -> bytes:
    snappy = _arrow_codec(Compression.SNAPPY)
    pieces = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = snappy.compress(data[start : start + _XERIAL_BLOCK_BYTES], asbytes=True)
        pieces += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(pieces)


def _compress_lz4(data: memoryview) -> bytes:
    import pyarrow as pa

    raw = pa.Codec("lz4_raw")
    pieces = [_LZ4_HEADER]
    for start in range(0, len(data), _LZ4_BLOCK_BYTES):
        plain = data[start : start + _LZ4_BLOCK_BYTES]
        block = raw.compress(plain, asbytes=True)
        if len(block) < len(plain):
            pieces += (_LZ4_LENGTH.pack(len(block)), block)
        else:
            pieces += (_LZ4_LENGTH.pack(len(plain) | _LZ4_STORED), bytes(plain))
    pieces.append(_LZ4_LENGTH.pack(0))
    return b"".join(pieces)


def _decompress_snappy(data: memoryview, limit_bytes: int) -> bytes:
    is_xerial = data[: len(_XERIAL_MAGIC)] == _XERIAL_MAGIC
    pieces: list[bytes] = []
    size_bytes = 0
    for block in _xerial_blocks(data) if is_xerial else [data]:
        block_bytes = _snappy_size_bytes(block)
        size_bytes += block_bytes
        if size_bytes > limit_bytes:
            raise _too_large(Compression.SNAPPY, limit_bytes)
        pieces.append(_arrow_codec(Compression.SNAPPY).decompress(block, decompressed_size=block_bytes, asbytes=True))
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _xerial_blocks(data: memoryview) -> Iterator[memoryview]:
    position = len(_XERIAL_HEADER)
    while position < len(data):
        start = position + _BLOCK_LENGTH.size
        if start > len(data):
            raise InvalidRecordBatch("SNAPPY payload is cut short")
        (length,) = _BLOCK_LENGTH.unpack_from(data, position)
        position = start + length
        if length < 0 or position > len(data):
            raise InvalidRecordBatch(f"SNAPPY block of {length} bytes at {start} passes the end, {len(data)}")
        yield data[start:position]


def _snappy_size_bytes(block: memoryview) -> int:
    """What a raw block grows to: it starts with that, as an unsigned varint."""
    size_bytes = 0
    for index, byte in enumerate(block[:5]):
        size_bytes |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            break
    else:
        raise InvalidRecordBatch("SNAPPY payload does not start with its size")
    if size_bytes > len(block) * _SNAPPY_GROWTH_MAX:
        raise InvalidRecordBatch(f"SNAPPY payload of {len(block)} bytes cannot hold the {size_bytes} that it claims")
    return size_bytes
