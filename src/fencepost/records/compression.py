"""The four codecs of record batches, with a cap on what a payload may grow to.

gzip is the standard library's, the others are Arrow's. LZ4 is the frame format with independent blocks, as Kafka asks.
Snappy comes in two shapes: Java and Python clients wrap blocks in xerial's stream format, librdkafka sends one raw
block; both are read, xerial's is written. `decompress` refuses a payload that would grow past `decompressed_bytes_max`
before memory for it is taken, and raises `InvalidRecordBatch` for anything that its codec cannot read.
"""

import struct
import zlib
from enum import IntEnum

import pyarrow as pa

from fencepost.records.errors import InvalidRecordBatch
from fencepost.types import Buffer

DECOMPRESSED_BYTES_MAX = 128 * 1024 * 1024
"""The default cap: far above what a producer puts in one batch, far below what a bomb makes of a megabyte."""

_GZIP_WINDOW_BITS = 31
_GZIP_LEVEL = 6
_READ_BYTES_MIN = 64 * 1024
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
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
        compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW_BITS)
        return compressor.compress(data) + compressor.flush()
    if codec == Compression.SNAPPY:
        return _compress_xerial(memoryview(data))
    return bytes(_arrow_codec(codec).compress(data, asbytes=True))


def decompress(data: Buffer, codec: int, *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    if codec == Compression.NONE:
        return bytes(data)
    if codec == Compression.GZIP:
        return _decompress_gzip(data, decompressed_bytes_max)
    if codec == Compression.SNAPPY:
        return _decompress_snappy(memoryview(data), decompressed_bytes_max)
    if codec in (Compression.LZ4, Compression.ZSTD):
        return _decompress_stream(data, Compression(codec), decompressed_bytes_max)
    raise InvalidRecordBatch(f"compression codec {codec} is not one of {', '.join(c.name for c in Compression)}")


def _arrow_codec(codec: Compression) -> pa.Codec:
    return pa.Codec(codec.name.lower())


def _too_large(codec: Compression, decompressed_bytes_max: int) -> InvalidRecordBatch:
    return InvalidRecordBatch(f"{codec.name} payload grows past the limit of {decompressed_bytes_max} bytes")


def _decompress_gzip(data: Buffer, decompressed_bytes_max: int) -> bytes:
    """Members one after the other are one payload, as in gzip itself and in Java's reader."""
    output = b""
    while data:
        member = zlib.decompressobj(_GZIP_WINDOW_BITS)
        try:
            output += member.decompress(data, decompressed_bytes_max - len(output) + 1)
        except zlib.error as error:
            raise InvalidRecordBatch(f"GZIP payload cannot be read: {error}") from error
        if len(output) > decompressed_bytes_max:
            raise _too_large(Compression.GZIP, decompressed_bytes_max)
        if not member.eof:
            raise InvalidRecordBatch("GZIP payload is cut short")
        data = member.unused_data
    return output


def _decompress_stream(data: Buffer, codec: Compression, decompressed_bytes_max: int) -> bytes:
    """Reads in growing steps, so that what is allocated follows what is really there."""
    pieces: list[bytes] = []
    size_bytes = 0
    step_bytes = max(_READ_BYTES_MIN, 4 * len(data))
    try:
        stream = pa.CompressedInputStream(pa.BufferReader(data), codec.name.lower())
        while piece := stream.read(min(step_bytes, decompressed_bytes_max - size_bytes + 1)):
            pieces.append(piece)
            size_bytes += len(piece)
            if size_bytes > decompressed_bytes_max:
                raise _too_large(codec, decompressed_bytes_max)
            step_bytes *= 2
    except (OSError, pa.ArrowException) as error:
        raise InvalidRecordBatch(f"{codec.name} payload cannot be read: {error}") from error
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _compress_xerial(data: memoryview) -> bytes:
    snappy = _arrow_codec(Compression.SNAPPY)
    pieces = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = snappy.compress(data[start : start + _XERIAL_BLOCK_BYTES], asbytes=True)
        pieces += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(pieces)


def _decompress_snappy(data: memoryview, decompressed_bytes_max: int) -> bytes:
    if data[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _decompress_snappy_block(data, decompressed_bytes_max)
    pieces: list[bytes] = []
    room_bytes = decompressed_bytes_max
    position = len(_XERIAL_HEADER)
    while position < len(data):
        start = position + _BLOCK_LENGTH.size
        if start > len(data):
            raise InvalidRecordBatch("SNAPPY payload is cut short")
        (length,) = _BLOCK_LENGTH.unpack_from(data, position)
        position = start + length
        if length < 0 or position > len(data):
            raise InvalidRecordBatch(f"SNAPPY block of {length} bytes at {start} passes the end, {len(data)}")
        pieces.append(_decompress_snappy_block(data[start:position], room_bytes))
        room_bytes -= len(pieces[-1])
    return b"".join(pieces)


def _decompress_snappy_block(block: memoryview, decompressed_bytes_max: int) -> bytes:
    size_bytes = _snappy_size_bytes(block)
    if size_bytes > decompressed_bytes_max:
        raise _too_large(Compression.SNAPPY, decompressed_bytes_max)
    if size_bytes > len(block) * _SNAPPY_GROWTH_MAX:
        raise InvalidRecordBatch(f"SNAPPY payload of {len(block)} bytes cannot hold the {size_bytes} that it claims")
    try:
        return bytes(_arrow_codec(Compression.SNAPPY).decompress(block, decompressed_size=size_bytes, asbytes=True))
    except (OSError, pa.ArrowException) as error:
        raise InvalidRecordBatch(f"SNAPPY payload cannot be read: {error}") from error


def _snappy_size_bytes(block: memoryview) -> int:
    """A raw block starts with its decompressed size as an unsigned varint."""
    size_bytes = 0
    for index, byte in enumerate(block[:5]):
        size_bytes |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return size_bytes
    raise InvalidRecordBatch("SNAPPY payload does not start with its size")
