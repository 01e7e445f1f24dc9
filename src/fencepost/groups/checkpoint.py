"""The coordinator's durable state as bytes and back: the shortest sequence of records that leads to it.

Format, version 1: a byte of version, then per record its partition of `__consumer_offsets`, offset, producer id, key
and value, each with its length. Loading is `apply_record` over them, so a checkpoint can hold nothing that the log
could not.
"""

import struct
from collections.abc import Iterator

from fencepost.errors import CorruptLog
from fencepost.groups.apply import apply_record
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.consumer_records import records_between
from fencepost.groups.records import group_metadata_record, offset_commit_record
from fencepost.groups.state import GroupsState
from fencepost.records.record import Record
from fencepost.types import NO_OFFSET, NO_PRODUCER_ID

FORMAT_VERSION = 1
_HEADER = struct.Struct(">iqqII")


def dump_state(state: GroupsState) -> bytes:
    parts = [bytes([FORMAT_VERSION])]
    for offsets_partition, record_offset, producer_id, record in _entries(state):
        key, value = record.key or b"", record.value or b""
        parts += (_HEADER.pack(offsets_partition, record_offset, producer_id, len(key), len(value)), key, value)
    return b"".join(parts)


def load_state(state: GroupsState, data: bytes) -> None:
    """Fill a fresh state."""
    if not data or data[0] != FORMAT_VERSION:
        raise CorruptLog(f"a checkpoint of groups starts with version {FORMAT_VERSION}, found {data[:1]!r}")
    position = 1
    while position < len(data):
        if position + _HEADER.size > len(data):
            raise CorruptLog(f"a checkpoint of groups ends inside an entry, at byte {position}")
        offsets_partition, record_offset, producer_id, key_bytes, value_bytes = _HEADER.unpack_from(data, position)
        position += _HEADER.size
        key = data[position : position + key_bytes]
        value = data[position + key_bytes : position + key_bytes + value_bytes]
        position += key_bytes + value_bytes
        apply_record(
            state,
            key,
            value,
            offsets_partition=offsets_partition,
            record_offset=record_offset,
            producer_id=producer_id,
        )


def _entries(state: GroupsState) -> Iterator[tuple[int, int, int, Record]]:
    """Offsets partition, offset, producer id and record, in a fixed order: equal states give equal bytes."""
    for group_id in sorted(state.metadata):
        yield (-1, NO_OFFSET, NO_PRODUCER_ID, group_metadata_record(group_id, state.metadata[group_id]))
    for group_id in sorted(state.consumer):
        for record in records_between(ConsumerGroup(group_id=group_id), state.consumer[group_id]):
            yield (-1, NO_OFFSET, NO_PRODUCER_ID, record)
    for group_id, partition, offset in sorted(state.offsets.all_committed(), key=lambda each: each[:2]):
        yield (-1, offset.record_offset, NO_PRODUCER_ID, offset_commit_record(group_id, partition, offset))
    for transaction, group_id, partition, offset in sorted(state.offsets.all_pending(), key=lambda each: each[:3]):
        record = offset_commit_record(group_id, partition, offset)
        yield (transaction.offsets_partition, offset.record_offset, transaction.producer_id, record)
