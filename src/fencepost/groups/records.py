"""Records of `__consumer_offsets` for offsets and classic groups, in Kafka's own layouts.

The version of a key says what kind of record it is. Values are written in the version that Kafka's newest release
writes; older ones are read too. KIP-848's records are in `consumer_records`.
"""

from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.records.record import Record
from fencepost.types import NO_TIMESTAMP, TopicPartition
from fencepost.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue

OFFSET_COMMIT_KEYS = (0, 1)
GROUP_METADATA_KEY = 2

_OFFSET_COMMIT_KEY_VERSION = 1
_OFFSET_COMMIT_VALUE_VERSION = 4
# The only version with a time of expiry of its own; clients up to OffsetCommit version 4 can ask for one.
_OFFSET_COMMIT_VALUE_VERSION_WITH_EXPIRY = 1
_GROUP_METADATA_VALUE_VERSION = 3


def offset_commit_record(group_id: str, partition: TopicPartition, offset: OffsetAndMetadata) -> Record:
    value = OffsetCommitValue(
        offset=offset.committed_offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=offset.commit_timestamp_ms,
        expire_timestamp=offset.expire_timestamp_ms,
        topic_id=offset.topic_id,
    )
    has_expiry = offset.expire_timestamp_ms != NO_TIMESTAMP
    version = _OFFSET_COMMIT_VALUE_VERSION_WITH_EXPIRY if has_expiry else _OFFSET_COMMIT_VALUE_VERSION
    return Record(key=_offset_commit_key(group_id, partition), value=value.to_bytes(version))


def offset_commit_tombstone(group_id: str, partition: TopicPartition) -> Record:
    return Record(key=_offset_commit_key(group_id, partition))


def _offset_commit_key(group_id: str, partition: TopicPartition) -> bytes:
    key = OffsetCommitKey(group=group_id, topic=partition.topic, partition=partition.partition)
    return key.to_bytes(_OFFSET_COMMIT_KEY_VERSION)


def read_offset(value: bytes, *, record_offset: int) -> OffsetAndMetadata:
    stored = OffsetCommitValue.from_bytes(value)
    return OffsetAndMetadata(
        committed_offset=stored.offset,
        leader_epoch=stored.leader_epoch,
        metadata=stored.metadata,
        commit_timestamp_ms=stored.commit_timestamp,
        expire_timestamp_ms=stored.expire_timestamp,
        topic_id=stored.topic_id,
        record_offset=record_offset,
    )


def group_metadata_record(group_id: str, metadata: GroupMetadataValue) -> Record:
    return Record(key=_group_metadata_key(group_id), value=metadata.to_bytes(_GROUP_METADATA_VALUE_VERSION))


def group_metadata_tombstone(group_id: str) -> Record:
    return Record(key=_group_metadata_key(group_id))


def _group_metadata_key(group_id: str) -> bytes:
    return GroupMetadataKey(group=group_id).to_bytes(GROUP_METADATA_KEY)
