"""Records to a record batch, plainly: for coordinators, cleaning and tests. Bulk data goes through `columnar`.

Timestamps are milliseconds, stored as deltas from the first record's (from the delete horizon in a batch that has one).
"""

from collections.abc import Sequence

from fencepost.errors import invariant
from fencepost.records.compression import Compression, compress
from fencepost.records.header import (
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    TIMESTAMP_TYPE_FLAG,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    write_header,
)
from fencepost.records.record import HEADER_KEY_ERRORS, Headers, Record
from fencepost.records.varint import encode_varint, to_int64
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP

_NULL_LENGTH = encode_varint(-1)
_NO_HEADERS = encode_varint(0)
_ATTRIBUTES = b"\x00"


def build_batch(
    records: Sequence[Record],
    *,
    compression: Compression = Compression.NONE,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    append_time_ms: int | None = None,
    delete_horizon_ms: int | None = None,
    last_offset_delta: int | None = None,
) -> bytes:
    """One batch of `records`, which take the offsets from `base_offset` on, whatever `Record.offset` says.

    `last_offset_delta` marks a batch that cleaning thinned out: `Record.offset` then counts, gaps are kept, and the
    batch may be empty. `append_time_ms` makes it a LogAppendTime batch.
    """
    is_thinned_out = last_offset_delta is not None
    invariant(records or is_thinned_out, "a batch without records is one that cleaning emptied")
    timestamps = [record.timestamp_ms for record in records] or [NO_TIMESTAMP]
    base_timestamp = timestamps[0] if delete_horizon_ms is None else delete_horizon_ms
    encoded: list[bytes] = []
    for index, record in enumerate(records):
        encoded += encode_record(
            record,
            timestamp_delta=to_int64(record.timestamp_ms - base_timestamp),
            offset_delta=record.offset - base_offset if is_thinned_out else index,
        )
    payload = b"".join(encoded)
    if compression and records:
        payload = compress(payload, compression)
    else:
        compression = Compression.NONE
    header = BatchHeader(
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        attributes=compression
        | (append_time_ms is not None) * TIMESTAMP_TYPE_FLAG
        | is_transactional * TRANSACTIONAL_FLAG
        | is_control * CONTROL_FLAG
        | (delete_horizon_ms is not None) * DELETE_HORIZON_FLAG,
        last_offset_delta=len(records) - 1 if last_offset_delta is None else last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=max(timestamps) if append_time_ms is None else append_time_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return write_header(header, payload) + payload


def encode_record(record: Record, *, timestamp_delta: int, offset_delta: int) -> tuple[bytes, bytes]:
    """One record as it stands in a batch: its length, and what has that length."""
    body = b"".join(
        (
            _ATTRIBUTES,
            encode_varint(timestamp_delta),
            encode_varint(offset_delta),
            _encode_bytes(record.key),
            _encode_bytes(record.value),
            _encode_headers(record.headers),
        )
    )
    return encode_varint(len(body)), body


def _encode_bytes(data: bytes | None) -> bytes:
    return _NULL_LENGTH if data is None else encode_varint(len(data)) + data


def _encode_headers(headers: Headers) -> bytes:
    if not headers:
        return _NO_HEADERS
    encoded = [encode_varint(len(headers))]
    for key, value in headers:
        encoded += (_encode_bytes(key.encode("utf-8", HEADER_KEY_ERRORS)), _encode_bytes(value))
    return b"".join(encoded)
