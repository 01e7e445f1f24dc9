"""What a batch must satisfy before a client's append: Kafka's checks, in Kafka's order, with Kafka's codes.

Two steps, both on headers alone. `validate_record_set` is the Produce request's: exactly one batch of format 2, in a
codec that the request's version may use. `validate_client_batch` is the log's: base offset, size, checksum, then the
list of Kafka's LogValidator. What lies inside the batch is the business of `inspection`.

Deliberate differences: bytes behind the batch are refused (Kafka cuts off an incomplete second batch), and an
undefined codec is UNSUPPORTED_COMPRESSION_TYPE (Kafka answers UNKNOWN_SERVER_ERROR).
"""

from fencepost.errors import ErrorCode, Refusal
from fencepost.records.compression import Compression, compress
from fencepost.records.header import (
    COMPRESSION_MASK,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC,
    TIMESTAMP_TYPE_FLAG,
    BatchHeader,
    check_crc,
    read_header,
    write_header,
)
from fencepost.records.reader import read_payload
from fencepost.types import Buffer

_ZSTD_PRODUCE_VERSION_MIN = 7
_MAGIC_POSITION = 16
_BATCH_LENGTH_MIN = 14
"""The smallest length that any format knows (format 0's); Kafka calls less than that corrupt."""


def validate_record_set(records: Buffer | None, *, produce_version: int) -> Refusal | None:
    """The rules of one partition's records in a Produce request, version 3 or higher."""
    if records is None or len(records) <= _MAGIC_POSITION:
        return invalid("a Produce request carries one record batch for each partition and this partition has none")
    batch_length = int.from_bytes(records[8:LENGTH_END], "big", signed=True)
    if batch_length < _BATCH_LENGTH_MIN:
        return _corrupt(f"the batch says that {batch_length} bytes follow its length: too few for a batch")
    magic = int.from_bytes(records[_MAGIC_POSITION : _MAGIC_POSITION + 1], "big", signed=True)
    if not 0 <= magic <= MAGIC:
        return _corrupt(f"the batch has magic {magic}, which no format uses")
    size_bytes = batch_length + LENGTH_END
    if size_bytes > len(records):
        return invalid(f"the batch says that it has {size_bytes} bytes and {len(records)} were sent")
    if magic != MAGIC:
        return invalid(f"the batch has magic {magic}: Produce version {produce_version} takes magic {MAGIC} only")
    if size_bytes < HEADER_BYTES:
        return _corrupt(f"the batch has {size_bytes} bytes: its header alone takes {HEADER_BYTES}")
    if (refusal := _refuse_codec(read_header(records).compression, produce_version)) is not None:
        return refusal
    if len(records) > size_bytes:
        return invalid(f"{len(records) - size_bytes} bytes follow the batch: a partition takes exactly one")
    return None


def validate_client_batch(batch: Buffer, *, max_message_bytes: int, segment_bytes: int) -> BatchHeader | Refusal:
    """The header of a batch that a client may append, as far as its header tells."""
    if len(batch) < HEADER_BYTES:
        return _corrupt(f"the batch has {len(batch)} bytes: its header alone takes {HEADER_BYTES}")
    header = read_header(batch)
    if header.base_offset != 0:
        return invalid(f"the batch has base offset {header.base_offset}: the broker assigns offsets, send 0")
    if header.size_bytes > max_message_bytes:
        return _message_too_large(header.size_bytes, max_message_bytes)
    if header.size_bytes != len(batch):
        return _corrupt(f"the batch says that it has {header.size_bytes} bytes and has {len(batch)}")
    if not check_crc(batch):
        return _corrupt(f"the batch's checksum {header.crc:#010x} does not match its {len(batch)} bytes")
    return (
        _refuse_header(header)
        or refuse_size(header.size_bytes, max_message_bytes=max_message_bytes, segment_bytes=segment_bytes)
        or header
    )


def refuse_size(size_bytes: int, *, max_message_bytes: int, segment_bytes: int) -> Refusal | None:
    """Asked about the batch as it will be stored: once more if recompression changed it."""
    if size_bytes > max_message_bytes:
        return _message_too_large(size_bytes, max_message_bytes)
    if size_bytes > segment_bytes:
        message = f"the batch has {size_bytes} bytes: segment.bytes of the topic is {segment_bytes}"
        return Refusal(ErrorCode.RECORD_LIST_TOO_LARGE, message)
    return None


def _refuse_header(header: BatchHeader) -> Refusal | None:
    """LogValidator's list, in its order."""
    if header.magic != MAGIC:
        return invalid(f"the batch has magic {header.magic}: only {MAGIC} is taken")
    if header.last_offset_delta < 0:
        return invalid(f"the batch has last offset delta {header.last_offset_delta}: its offset range is empty")
    if header.record_count <= 0:
        return invalid(f"the batch says that it has {header.record_count} records: at least one is needed")
    if header.record_count != header.last_offset_delta + 1:
        return invalid(f"the batch has {header.record_count} records and last offset delta {header.last_offset_delta}")
    if header.is_control:
        return invalid("the batch is a control batch: clients may not write markers")
    if header.has_producer_id and header.base_sequence < 0:
        return invalid(f"the batch has producer id {header.producer_id} and base sequence {header.base_sequence}")
    return None


def _refuse_codec(codec: int, produce_version: int) -> Refusal | None:
    if codec > Compression.ZSTD:
        return Refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"the batch has compression codec {codec}: undefined")
    if codec == Compression.ZSTD and produce_version < _ZSTD_PRODUCE_VERSION_MIN:
        message = f"the batch has zstd: that takes Produce version {_ZSTD_PRODUCE_VERSION_MIN}, not {produce_version}"
        return Refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, message)
    return None


def _message_too_large(size_bytes: int, max_message_bytes: int) -> Refusal:
    message = f"the batch has {size_bytes} bytes: max.message.bytes of the topic is {max_message_bytes}"
    return Refusal(ErrorCode.MESSAGE_TOO_LARGE, message)


def invalid(message: str) -> Refusal:
    return Refusal(ErrorCode.INVALID_RECORD, message)


def _corrupt(message: str) -> Refusal:
    return Refusal(ErrorCode.CORRUPT_MESSAGE, message)


# Batches that the broker changes before it stores them, as a topic's settings ask.
#
# `message.timestamp.type=LogAppendTime` sets one flag and one field of the header; a `compression.type` other than
# `producer` packs the same encoded records again. Both recompute the checksum; no record is decoded.


def with_append_time(batch: Buffer, now_ms: int) -> bytes:
    """`batch` as one of LogAppendTime: all of its records have the timestamp `now_ms`."""
    header = read_header(batch)
    payload = memoryview(batch)[HEADER_BYTES:]
    appended = header._replace(attributes=header.attributes | TIMESTAMP_TYPE_FLAG, max_timestamp=now_ms)
    return b"".join((write_header(appended, payload), payload))


def recompress(batch: Buffer, codec: Compression) -> bytes:
    """`batch` with its records in `codec`; the bytes as they are if that is their codec already."""
    header = read_header(batch)
    if header.compression == codec:
        return bytes(batch)
    payload = compress(read_payload(batch, header), codec)
    recompressed = header._replace(attributes=header.attributes & ~COMPRESSION_MASK | codec)
    return write_header(recompressed, payload) + payload
