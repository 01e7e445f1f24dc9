"""The 61 bytes before the first record of a record batch (format 2), as a view.

Base offset and leader epoch lie outside the checksum, so an append stamps both without touching the payload:
`stamp` returns the patched 61 bytes and the caller writes them in front of a memoryview of the rest.
Reading a header checks that 61 bytes are there, nothing else: what a batch must satisfy is `validation`.
Offsets and timestamps of a batch with the delete-horizon flag are read the same way; its base timestamp is the horizon.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from crc32c import crc32c

from fencepost.records.errors import InvalidRecordBatch
from fencepost.records.sequence import increment_sequence
from fencepost.types import NO_SEQUENCE, Buffer

HEADER_BYTES = 61
MAGIC = 2
LENGTH_END = 12
"""`batch_length` counts the bytes from here."""
CHECKSUM_START = 21
"""The checksum covers the batch from here, the attributes, to its end."""

COMPRESSION_MASK = 0x07
TIMESTAMP_TYPE_FLAG = 0x08
TRANSACTIONAL_FLAG = 0x10
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40

_HEADER = struct.Struct(">qiibIhiqqqhii")
_BASE_OFFSET = struct.Struct(">q")
_LEADER_EPOCH = struct.Struct(">i")
_LEADER_EPOCH_START = 12


class TimestampType(IntEnum):
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

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
        """A member of `compression.Compression`, or 5, 6, 7, which nobody defined."""
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


def write_header(header: BatchHeader, payload: Buffer) -> bytes:
    """The 61 bytes that go before `payload`; length and checksum are computed, whatever `header` says about them."""
    unsealed = _HEADER.pack(*header._replace(batch_length=HEADER_BYTES - LENGTH_END + len(payload), crc=0))
    crc = crc32c(payload, crc32c(memoryview(unsealed)[CHECKSUM_START:]))
    return unsealed[: CHECKSUM_START - 4] + crc.to_bytes(4, "big") + unsealed[CHECKSUM_START:]


def stamp(batch: Buffer, *, base_offset: int, leader_epoch: int) -> bytes:
    """The header of `batch` with the two fields that a broker assigns; the rest of the batch follows it unchanged."""
    header = bytearray(batch[:HEADER_BYTES])
    stamp_in_place(header, base_offset=base_offset, leader_epoch=leader_epoch)
    return bytes(header)


def stamp_in_place(batch: bytearray | memoryview, *, base_offset: int, leader_epoch: int) -> None:
    if len(batch) < HEADER_BYTES:
        raise InvalidRecordBatch(f"{len(batch)} bytes: a batch header takes {HEADER_BYTES}")
    _BASE_OFFSET.pack_into(batch, 0, base_offset)
    _LEADER_EPOCH.pack_into(batch, _LEADER_EPOCH_START, leader_epoch)


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
