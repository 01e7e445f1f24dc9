"""The 61 bytes before the first record of a record batch (format 2), as a view.

Base offset and leader epoch lie outside the checksum, so an append stamps both without touching the rest:
`stamp` returns the first 16 bytes anew and the caller writes them in front of a memoryview of what follows.
Reading a header checks that 61 bytes are there, nothing else: what a batch must satisfy is `validation`.
Offsets and timestamps of a batch with the delete-horizon flag are read the same way; its base timestamp is the horizon.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from crc32c import crc32c

from fencepost.records.record import InvalidRecordBatch, increment_sequence
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP, Buffer

HEADER_BYTES = 61
MAGIC = 2
LENGTH_END = 12
"""`batch_length` counts the bytes from here."""
STAMP_BYTES = 16
"""Base offset, length and leader epoch: what a broker writes anew when it appends."""
CHECKSUM_START = 21
"""The checksum covers the batch from here, the attributes, to its end."""

COMPRESSION_MASK = 0x07
TIMESTAMP_TYPE_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40

_HEADER = struct.Struct(">qiibIhiqqqhii")
_STAMP = struct.Struct(">qii")
_UNCHECKED = struct.Struct(">qiibI")
_CHECKED = struct.Struct(">hiqqqhii")
_FIRST_CHECKED_FIELD = 5


class TimestampType(IntEnum):
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    base_offset: int = 0
    batch_length: int = 0
    leader_epoch: int = -1
    magic: int = MAGIC
    crc: int = 0
    attributes: int = 0
    last_offset_delta: int = 0
    base_timestamp: int = NO_TIMESTAMP
    max_timestamp: int = NO_TIMESTAMP
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    record_count: int = 0

    @property
    def size_bytes(self) -> int:
        return self.batch_length + LENGTH_END

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; it is smaller than the first one's when the batch straddles the wrap."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def compression(self) -> int:
        """A member of `compression.Compression`, or 5, 6, 7, which are undefined."""
        return self.attributes & COMPRESSION_MASK

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType.LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_FLAG else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > -1

    @property
    def delete_horizon_ms(self) -> int | None:
        """When cleaning may drop tombstones and markers of this batch; None until cleaning has seen it once."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_FLAG else None


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    if position < 0 or len(buffer) - position < HEADER_BYTES:
        raise InvalidRecordBatch(f"{len(buffer) - position} bytes at {position}: a batch header takes {HEADER_BYTES}")
    return BatchHeader._make(_HEADER.unpack_from(buffer, position))


def write_header(header: BatchHeader, payload: Buffer, *, is_sealed: bool = True) -> bytes:
    """The 61 bytes that go before `payload`; length and checksum are computed, whatever `header` says about them.

    Without a seal the checksum is left out: the header will be written once more.
    """
    checked = _CHECKED.pack(*header[_FIRST_CHECKED_FIELD:])
    crc = crc32c(payload, crc32c(checked)) if is_sealed else 0
    batch_length = HEADER_BYTES + len(payload) - LENGTH_END
    return _UNCHECKED.pack(header.base_offset, batch_length, header.leader_epoch, header.magic, crc) + checked


def rewrite_header(batch: bytearray | memoryview, header: BatchHeader) -> None:
    """Give a sealed batch another header, in place. Records that do not match their checksum any more do not match the
    new one either: damage is found by who checks the batch next."""
    batch[:HEADER_BYTES] = write_header(header, memoryview(batch)[HEADER_BYTES:], is_sealed=check_crc(batch))


def stamp(header: BatchHeader) -> bytes:
    """The first 16 bytes of a batch as its header, with the two fields that a broker assigns, says."""
    return _STAMP.pack(header.base_offset, header.batch_length, header.leader_epoch)


def stamp_in_place(batch: bytearray | memoryview, *, base_offset: int, leader_epoch: int) -> None:
    """The same for a batch that lies in a buffer of one's own."""
    batch[:STAMP_BYTES] = stamp(read_header(batch)._replace(base_offset=base_offset, leader_epoch=leader_epoch))


def check_crc(batch: Buffer) -> bool:
    """Whether the checksum of `batch`, which is one whole batch and nothing behind it, is right."""
    crc = int.from_bytes(batch[CHECKSUM_START - 4 : CHECKSUM_START], "big")
    return len(batch) >= HEADER_BYTES and crc32c(memoryview(batch)[CHECKSUM_START:]) == crc


def split_batches(buffer: Buffer, *, drop_partial_tail: bool = False) -> Iterator[tuple[BatchHeader, memoryview]]:
    """The consecutive batches of `buffer`, each with its header, not copied.

    A fetch may answer with a last batch cut short; who reads one asks to drop it.
    """
    view = memoryview(buffer)
    position = 0
    while position < len(view):
        if drop_partial_tail and len(view) - position < HEADER_BYTES:
            return
        header = read_header(view, position)
        if header.magic != MAGIC:
            raise InvalidRecordBatch(f"batch at {position} has magic {header.magic}: only {MAGIC} is read")
        if header.size_bytes < HEADER_BYTES:
            raise InvalidRecordBatch(f"batch at {position} says it has {header.size_bytes} bytes, less than a header")
        end = position + header.size_bytes
        if end > len(view):
            if drop_partial_tail:
                return
            raise InvalidRecordBatch(f"batch at {position} says it ends at {end}, past the {len(view)} bytes given")
        yield header, view[position:end]
        position = end
