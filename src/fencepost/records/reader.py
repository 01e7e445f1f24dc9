"""A record batch to records, plainly. Bulk data goes through `columnar`.

Whatever the bytes are, the answer is records or `InvalidRecordBatch`, and memory follows what is really there: counts
and lengths that the batch claims are never trusted with an allocation, and a compressed payload is capped.
Which records a reader may see (aborted ones, markers) is not decided here.
"""

from collections.abc import Iterator

from fencepost.records.compression import DECOMPRESSED_BYTES_MAX, Compression, decompress
from fencepost.records.header import HEADER_BYTES, MAGIC, BatchHeader, TimestampType, read_header
from fencepost.records.record import HEADER_KEY_ERRORS, Headers, InvalidRecordBatch, Record
from fencepost.records.varint import read_varint, read_varlong, to_int64
from fencepost.types import Buffer

_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1


def read_records(batch: Buffer, *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX) -> list[Record]:
    return list(iter_records(batch, decompressed_bytes_max=decompressed_bytes_max))


def iter_records(batch: Buffer, *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
    """One record after the other; a batch that turns out to be broken raises at the record where it is."""
    header = read_header(batch)
    payload = read_payload(batch, header, decompressed_bytes_max=decompressed_bytes_max)
    is_append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    position = 0
    for index in range(header.record_count):
        try:
            record, position = _read_record(payload, position, header)
        except IndexError as error:
            raise InvalidRecordBatch(
                f"record {index} of {header.record_count} passes the end of the batch's {len(payload)} bytes"
            ) from error
        yield record._replace(timestamp_ms=header.max_timestamp) if is_append_time else record
    if position != len(payload):
        raise InvalidRecordBatch(f"{len(payload) - position} bytes follow the last of {header.record_count} records")


def read_payload(batch: Buffer, header: BatchHeader, *, decompressed_bytes_max: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """The encoded records of a batch, decompressed."""
    payload = view_payload(batch, header)
    if header.compression == Compression.NONE or not payload:
        return bytes(payload)
    return decompress(payload, header.compression, decompressed_bytes_max=decompressed_bytes_max)


def view_payload(batch: Buffer, header: BatchHeader) -> memoryview:
    """The encoded records of a batch as they are."""
    if header.magic != MAGIC:
        raise InvalidRecordBatch(f"the batch has magic {header.magic}: only {MAGIC} is read")
    if header.size_bytes != len(batch):
        raise InvalidRecordBatch(f"the batch says it has {header.size_bytes} bytes and has {len(batch)}")
    if header.record_count < 0:
        raise InvalidRecordBatch(f"the batch says it has {header.record_count} records")
    return memoryview(batch)[HEADER_BYTES:]


def _read_record(payload: bytes, position: int, header: BatchHeader) -> tuple[Record, int]:
    length, position = read_varint(payload, position)
    end = position + length
    if length < 0 or end > len(payload):
        raise InvalidRecordBatch(f"a record of {length} bytes at {position} passes the end, {len(payload)}")
    timestamp_delta, position = read_varlong(payload, position + 1)
    offset_delta, position = read_varint(payload, position)
    key, position = _read_bytes(payload, position)
    value, position = _read_bytes(payload, position)
    headers: Headers = ()
    if payload[position]:
        headers, position = _read_headers(payload, position)
    else:
        position += 1
    if position != end:
        raise InvalidRecordBatch(f"a record that should end at {end} ends at {position}")
    timestamp_ms = header.base_timestamp + timestamp_delta
    if not _INT64_MIN <= timestamp_ms <= _INT64_MAX:
        timestamp_ms = to_int64(timestamp_ms)
    return Record(header.base_offset + offset_delta, timestamp_ms, key, value, headers), position


def _read_bytes(payload: bytes, position: int) -> tuple[bytes | None, int]:
    """Bytes behind their length; Kafka's readers take every negative length for null, so this one does."""
    length, position = read_varint(payload, position)
    if length < 0:
        return None, position
    end = position + length
    if end > len(payload):
        raise InvalidRecordBatch(f"{length} bytes at {position} pass the end, {len(payload)}")
    return payload[position:end], end


def _read_headers(payload: bytes, position: int) -> tuple[Headers, int]:
    count, position = read_varint(payload, position)
    if count < 0:
        raise InvalidRecordBatch(f"a record says it has {count} headers")
    headers = []
    for _ in range(count):
        key, position = _read_bytes(payload, position)
        if key is None:
            raise InvalidRecordBatch(f"a record header without a key before {position}")
        value, position = _read_bytes(payload, position)
        headers.append((key.decode("utf-8", HEADER_KEY_ERRORS), value))
    return tuple(headers), position
