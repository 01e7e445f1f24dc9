"""Records as stored: TransactionLogKey to TransactionLogValue.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.types import Buffer
from fencepost.wire.message import Output, VersionedRecord
from fencepost.wire.reading import (
    Data,
    check_tag_end,
    read_compact_integers,
    read_compact_nullable_array,
    read_compact_string,
    read_integers,
    read_nullable_array,
    read_string,
    read_tag,
    read_tag_count,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_integers,
    write_compact_nullable_array,
    write_compact_string,
    write_integers,
    write_nullable_array,
    write_string,
    write_tags,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack
_read_qhib = Struct(">qhib").unpack_from
_pack_qhib = Struct(">qhib").pack
_read_qq = Struct(">qq").unpack_from
_pack_qq = Struct(">qq").pack


@dataclass(slots=True)
class TransactionLogKey(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    transactional_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TransactionLogKey, int]":
        transactional_id, at = read_string(data, at)
        return TransactionLogKey(transactional_id), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.transactional_id)


@dataclass(slots=True)
class PartitionsSchema:
    topic: str = ""
    partition_ids: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionsSchema, int]":
        topic, at = (read_compact_string if version >= 1 else read_string)(data, at)
        partition_ids, at = (read_compact_integers if version >= 1 else read_integers)(data, at, "i", 4)
        if version >= 1:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return PartitionsSchema(topic, partition_ids), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 1 else write_string)(out, self.topic)
        (write_compact_integers if version >= 1 else write_integers)(out, self.partition_ids, "i")
        if version >= 1:
            out.append(0)


@dataclass(slots=True)
class TransactionLogValue(VersionedRecord):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    producer_id: int = 0
    previous_producer_id: int = -1  # v1+, tag 0
    next_producer_id: int = -1  # v1+, tag 1
    producer_epoch: int = 0
    transaction_timeout_ms: int = 0
    transaction_status: int = 0
    transaction_partitions: list[PartitionsSchema] | None = field(default_factory=list)
    transaction_last_update_timestamp_ms: int = 0
    transaction_start_timestamp_ms: int = 0
    client_transaction_version: int = 0  # v1+, tag 2
    next_producer_epoch: int = -1  # v1+, tag 3
    last_producer_epoch: int = -1  # v1+, tag 10000

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TransactionLogValue, int]":
        producer_id, producer_epoch, transaction_timeout_ms, transaction_status = _read_qhib(data, at)
        at += 15
        transaction_partitions, at = (read_compact_nullable_array if version >= 1 else read_nullable_array)(
            data, at, version, PartitionsSchema.read, 3
        )
        transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = _read_qq(data, at)
        at += 16
        previous_producer_id: int = -1
        next_producer_id: int = -1
        client_transaction_version: int = 0
        next_producer_epoch: int = -1
        last_producer_epoch: int = -1
        if version >= 1:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0:
                        previous_producer_id = _read_q(data, at)[0]
                        at += 8
                    elif tag == 1:
                        next_producer_id = _read_q(data, at)[0]
                        at += 8
                    elif tag == 2:
                        client_transaction_version = _read_h(data, at)[0]
                        at += 2
                    elif tag == 3:
                        next_producer_epoch = _read_h(data, at)[0]
                        at += 2
                    elif tag == 10000:
                        last_producer_epoch = _read_h(data, at)[0]
                        at += 2
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return TransactionLogValue(
            producer_id,
            previous_producer_id,
            next_producer_id,
            producer_epoch,
            transaction_timeout_ms,
            transaction_status,
            transaction_partitions,
            transaction_last_update_timestamp_ms,
            transaction_start_timestamp_ms,
            client_transaction_version,
            next_producer_epoch,
            last_producer_epoch,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_qhib(self.producer_id, self.producer_epoch, self.transaction_timeout_ms, self.transaction_status)
        (write_compact_nullable_array if version >= 1 else write_nullable_array)(
            out, self.transaction_partitions, version
        )
        out += _pack_qq(self.transaction_last_update_timestamp_ms, self.transaction_start_timestamp_ms)
        if version >= 1:
            tags: list[tuple[int, Buffer]] = []
            if self.previous_producer_id != -1:
                tags.append((0, _pack_q(self.previous_producer_id)))
            if self.next_producer_id != -1:
                tags.append((1, _pack_q(self.next_producer_id)))
            if self.client_transaction_version:
                tags.append((2, _pack_h(self.client_transaction_version)))
            if self.next_producer_epoch != -1:
                tags.append((3, _pack_h(self.next_producer_epoch)))
            if self.last_producer_epoch != -1:
                tags.append((10000, _pack_h(self.last_producer_epoch)))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)
