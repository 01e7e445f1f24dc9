"""Records of `__consumer_offsets` for offsets and classic groups, in Kafka's own layouts.

The version of a key says what kind of record it is. Values are written in the version that Kafka's newest release
writes; older ones are read too. KIP-848's records are in `consumer_records`.
"""

from fencepost.groups.classic_group import GroupMetadata, MemberMetadata
from fencepost.groups.decision import Record
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.types import NO_TIMESTAMP, TopicPartition
from fencepost.wire.messages import group_metadata_record as group_metadata_schema
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
    return Record(_offset_commit_key(group_id, partition), value.to_bytes(version))


def offset_commit_tombstone(group_id: str, partition: TopicPartition) -> Record:
    return Record(_offset_commit_key(group_id, partition), None)


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


def group_metadata_record(metadata: GroupMetadata) -> Record:
    value = GroupMetadataValue(
        protocol_type=metadata.protocol_type or "",
        generation=metadata.generation_id,
        protocol=metadata.protocol_name,
        leader=metadata.leader,
        current_state_timestamp=metadata.current_state_timestamp_ms,
        members=[
            group_metadata_schema.MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in metadata.members
        ],
    )
    return Record(_group_metadata_key(metadata.group_id), value.to_bytes(_GROUP_METADATA_VALUE_VERSION))


def group_metadata_tombstone(group_id: str) -> Record:
    return Record(_group_metadata_key(group_id), None)


def _group_metadata_key(group_id: str) -> bytes:
    return GroupMetadataKey(group=group_id).to_bytes(GROUP_METADATA_KEY)


def read_group_metadata(group_id: str, value: bytes) -> GroupMetadata:
    stored = GroupMetadataValue.from_bytes(value)
    return GroupMetadata(
        group_id=group_id,
        protocol_type=stored.protocol_type or None,
        generation_id=stored.generation,
        protocol_name=stored.protocol,
        leader=stored.leader or None,
        current_state_timestamp_ms=stored.current_state_timestamp,
        members=tuple(
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout,
                session_timeout_ms=member.session_timeout,
                subscription=member.subscription,
                assignment=member.assignment,
            )
            for member in stored.members
        ),
    )
