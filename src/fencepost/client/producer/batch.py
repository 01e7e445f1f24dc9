"""One record batch of a producer: filled record by record or given whole, numbered once, sent again as it was.

Pure. The bytes are laid out once: 61 bytes of room, then the records; stamping writes the header in front, so a retry
costs nothing and a new number costs a checksum.
"""

from typing import cast

from fencepost.client.producer.delivery import Delivery
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.errors import invariant
from fencepost.records.builder import encode_record
from fencepost.records.compression import Compression, compress
from fencepost.records.header import (
    COMPRESSION_MASK,
    HEADER_BYTES,
    MAGIC,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    read_header,
    write_header,
)
from fencepost.records.record import Headers, Record
from fencepost.records.varint import to_int64
from fencepost.types import NO_SEQUENCE, TopicPartition

_NO_LEADER_EPOCH = -1
RECORD_OVERHEAD_BYTES_MAX = 24
"""Lengths, deltas and attributes of one record without headers, at their longest (length 5, timestamp 10, the rest)."""


class ProducerBatch:
    """What is waiting, on its way, or waiting again."""

    __slots__ = (
        "attempts",
        "base_sequence",
        "base_timestamp",
        "buffer",
        "compression",
        "created_at_s",
        "delivery",
        "identity",
        "is_closed",
        "is_finished",
        "is_refused",
        "is_whole",
        "max_timestamp",
        "order",
        "record_count",
        "retry_at_s",
        "topic_partition",
    )

    def __init__(self, topic_partition: TopicPartition, *, created_at_s: float) -> None:
        self.topic_partition = topic_partition
        self.delivery = Delivery(topic_partition)
        self.created_at_s = created_at_s
        self.buffer: bytearray | memoryview = bytearray(HEADER_BYTES)
        self.compression = int(Compression.NONE)
        self.is_whole = False
        """Given as it is, compressed already if that was to be."""
        self.record_count = 0
        self.base_timestamp = 0
        self.max_timestamp = 0
        self.attempts = 0
        self.retry_at_s = 0.0
        self.is_closed = False
        """Takes no more records."""
        self.is_finished = False
        """Ready to be stamped, or stamped already."""
        self.order: int | None = None
        """Its place among the batches of its partition that were sent; None until it is."""
        self.identity = NO_IDENTITY
        self.base_sequence = NO_SEQUENCE
        self.is_refused = False
        """The partition has said for certain that it does not have this batch under its present number."""

    @classmethod
    def of(
        cls, topic_partition: TopicPartition, encoded: bytearray | memoryview, *, is_sealed: bool, created_at_s: float
    ) -> "ProducerBatch":
        """A whole batch. Its header says who wrote it, if it is sealed; otherwise it is still to be stamped."""
        header = read_header(encoded)
        batch = cls(topic_partition, created_at_s=created_at_s)
        batch.buffer = encoded
        batch.record_count = header.record_count
        batch.base_timestamp = header.base_timestamp
        batch.max_timestamp = header.max_timestamp
        batch.identity = ProducerIdentity(header.producer_id, header.producer_epoch)
        batch.base_sequence = header.base_sequence
        batch.compression = header.attributes & COMPRESSION_MASK
        batch.is_closed = batch.is_whole = True
        batch.is_finished = is_sealed
        return batch

    @property
    def size_bytes(self) -> int:
        return len(self.buffer)

    def append(self, record: Record) -> int:
        """The record's place in the batch."""
        index, timestamp_ms = self.record_count, record.timestamp_ms
        if index == 0:
            self.base_timestamp = self.max_timestamp = timestamp_ms
        elif timestamp_ms > self.max_timestamp:
            self.max_timestamp = timestamp_ms
        length, body = encode_record(
            record, timestamp_delta=to_int64(timestamp_ms - self.base_timestamp), offset_delta=index
        )
        buffer = cast(bytearray, self.buffer)
        buffer += length
        buffer += body
        self.record_count = index + 1
        return index

    def finish(self, compression: Compression) -> None:
        """Compress it if that makes it smaller. What is left to do is to stamp it."""
        self.is_finished = True
        invariant(self.record_count, "a batch that is sent has records")
        if compression != Compression.NONE and not self.is_whole:
            compressed = compress(memoryview(self.buffer)[HEADER_BYTES:], compression)
            if len(compressed) < len(self.buffer) - HEADER_BYTES:
                self.buffer = bytearray(HEADER_BYTES) + compressed
                self.compression = int(compression)

    def stamp(self, identity: ProducerIdentity, base_sequence: int, *, is_transactional: bool) -> None:
        """Who writes it and under which number, if any, in place."""
        self.identity, self.base_sequence = identity, base_sequence
        header = BatchHeader(
            base_offset=0,
            batch_length=0,
            leader_epoch=_NO_LEADER_EPOCH,
            magic=MAGIC,
            crc=0,
            attributes=self.compression | (TRANSACTIONAL_FLAG if is_transactional else 0),
            last_offset_delta=self.record_count - 1,
            base_timestamp=self.base_timestamp,
            max_timestamp=self.max_timestamp,
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            base_sequence=base_sequence,
            record_count=self.record_count,
        )
        self.buffer[:HEADER_BYTES] = write_header(header, memoryview(self.buffer)[HEADER_BYTES:])


def record_bytes_max(key: bytes | None, value: bytes | None, headers: Headers) -> int:
    """More than a record takes in a batch, at no more than a few bytes."""
    size_bytes = RECORD_OVERHEAD_BYTES_MAX + len(key or b"") + len(value or b"")
    for name, content in headers:
        size_bytes += 2 * 5 + 3 * len(name) + len(content or b"")
    return size_bytes
