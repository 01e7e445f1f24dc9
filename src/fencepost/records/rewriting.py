"""Batches that the broker changes before it stores them, as a topic's settings ask.

`message.timestamp.type=LogAppendTime` sets one flag and one field of the header; a `compression.type` other than
`producer` packs the same encoded records again. Both recompute the checksum; no record is decoded.
"""

from fencepost.records.compression import DECOMPRESSED_BYTES_MAX, Compression, compress
from fencepost.records.header import (
    COMPRESSION_MASK,
    HEADER_BYTES,
    TIMESTAMP_TYPE_FLAG,
    read_header,
    write_header,
)
from fencepost.records.reader import read_payload
from fencepost.types import Buffer


def with_append_time(batch: Buffer, now_ms: int) -> bytes:
    """`batch` as one of LogAppendTime: all of its records have the timestamp `now_ms`."""
    header = read_header(batch)
    payload = memoryview(batch)[HEADER_BYTES:]
    appended = header._replace(attributes=header.attributes | TIMESTAMP_TYPE_FLAG, max_timestamp=now_ms)
    return b"".join((write_header(appended, payload), payload))


def recompress(batch: Buffer, codec: Compression, *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """`batch` with its records in `codec`; the bytes as they are if that is their codec already."""
    header = read_header(batch)
    if header.compression == codec:
        return bytes(batch)
    payload = compress(read_payload(batch, header, decompressed_bytes_max=decompressed_bytes_max), codec)
    recompressed = header._replace(attributes=header.attributes & ~COMPRESSION_MASK | codec)
    return write_header(recompressed, payload) + payload
