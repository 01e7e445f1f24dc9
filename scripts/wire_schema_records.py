"""Schemas of what the coordinators store in `__transaction_state` and `__consumer_offsets`, in Kafka's own layouts.

kio does not have them, so they are listed here. A type is written as in Kafka's schemas (`[]` for arrays), with `?` for
what may be null; `since` and `until` are versions, `tag` makes it a tagged field.
"""

from dataclasses import dataclass

from wire_schema import IMPLICIT, Field, Message, Struct

OUR_FIRST_TAG = 10_000
"""Tagged fields of our own start here, far from any that Kafka may add. Kafka skips tags that it does not know."""


@dataclass(frozen=True)
class F:
    name: str
    type: str
    since: int = 0
    until: int | None = None
    tag: int | None = None
    default: object = IMPLICIT


@dataclass(frozen=True)
class Record:
    name: str
    versions: range
    fields: tuple[F, ...]
    flexible_since: int | None = None
    structs: tuple[tuple[str, tuple[F, ...]], ...] = ()


def key(name: str, version: int, *fields: F) -> Record:
    """Keys are never flexible; in `__consumer_offsets` the version says what kind of record it is."""
    return Record(name, range(version, version + 1), fields)


GROUP_KEY = (F("group_id", "string"),)
MEMBER_KEY = (F("group_id", "string"), F("member_id", "string"))

TRANSACTION_LOG = (
    key("TransactionLogKey", 0, F("transactional_id", "string")),
    Record(
        "TransactionLogValue",
        range(2),
        (
            F("producer_id", "int64"),
            F("previous_producer_id", "int64", since=1, tag=0, default=-1),
            F("next_producer_id", "int64", since=1, tag=1, default=-1),
            F("producer_epoch", "int16"),
            F("transaction_timeout_ms", "int32"),
            F("transaction_status", "int8"),
            F("transaction_partitions", "[]?PartitionsSchema"),
            F("transaction_last_update_timestamp_ms", "int64"),
            F("transaction_start_timestamp_ms", "int64"),
            F("client_transaction_version", "int16", since=1, tag=2),
            F("next_producer_epoch", "int16", since=1, tag=3, default=-1),
            # Ours: without it a retried InitProducerId is not recognised after a restart.
            F("last_producer_epoch", "int16", since=1, tag=OUR_FIRST_TAG, default=-1),
        ),
        flexible_since=1,
        structs=(("PartitionsSchema", (F("topic", "string"), F("partition_ids", "[]int32"))),),
    ),
)

OFFSET_COMMIT = (
    Record("OffsetCommitKey", range(2), (F("group", "string"), F("topic", "string"), F("partition", "int32"))),
    Record(
        "OffsetCommitValue",
        range(5),
        (
            F("offset", "int64"),
            F("leader_epoch", "int32", since=3, default=-1),
            F("metadata", "string"),
            F("commit_timestamp", "int64"),
            F("expire_timestamp", "int64", since=1, until=1, default=-1),
            F("topic_id", "uuid", since=4, tag=0),
        ),
        flexible_since=4,
    ),
)

GROUP_METADATA = (
    key("GroupMetadataKey", 2, F("group", "string")),
    Record(
        "GroupMetadataValue",
        range(5),
        (
            F("protocol_type", "string"),
            F("generation", "int32"),
            F("protocol", "?string"),
            F("leader", "?string"),
            F("current_state_timestamp", "int64", since=2, default=-1),
            F("members", "[]MemberMetadata"),
        ),
        flexible_since=4,
        structs=(
            (
                "MemberMetadata",
                (
                    F("member_id", "string"),
                    F("group_instance_id", "?string", since=3, default=None),
                    F("client_id", "string"),
                    F("client_host", "string"),
                    F("rebalance_timeout", "int32", since=1, default=-1),
                    F("session_timeout", "int32"),
                    F("subscription", "bytes"),
                    F("assignment", "bytes"),
                ),
            ),
        ),
    ),
)

CONSUMER_GROUP = (
    key("ConsumerGroupMetadataKey", 3, *GROUP_KEY),
    Record(
        "ConsumerGroupMetadataValue",
        range(1),
        (F("epoch", "int32"), F("metadata_hash", "int64", tag=0)),
        flexible_since=0,
    ),
    key("ConsumerGroupPartitionMetadataKey", 4, *GROUP_KEY),
    Record(
        "ConsumerGroupPartitionMetadataValue",
        range(1),
        (F("topics", "[]TopicMetadata"),),
        flexible_since=0,
        structs=(
            ("PartitionMetadata", (F("partition", "int32"), F("racks", "[]string"))),
            (
                "TopicMetadata",
                (
                    F("topic_id", "uuid"),
                    F("topic_name", "string"),
                    F("num_partitions", "int32"),
                    F("partition_metadata", "[]PartitionMetadata"),
                ),
            ),
        ),
    ),
    key("ConsumerGroupMemberMetadataKey", 5, *MEMBER_KEY),
    Record(
        "ConsumerGroupMemberMetadataValue",
        range(1),
        (
            F("instance_id", "?string"),
            F("rack_id", "?string"),
            F("client_id", "string"),
            F("client_host", "string"),
            F("subscribed_topic_names", "[]string"),
            F("subscribed_topic_regex", "?string"),
            F("rebalance_timeout_ms", "int32", default=-1),
            F("server_assignor", "?string"),
            F("classic_member_metadata", "?ClassicMemberMetadata", tag=0, default=None),
        ),
        flexible_since=0,
        structs=(
            ("ClassicProtocol", (F("name", "string"), F("metadata", "bytes"))),
            (
                "ClassicMemberMetadata",
                (F("session_timeout_ms", "int32"), F("supported_protocols", "[]ClassicProtocol")),
            ),
        ),
    ),
    key("ConsumerGroupTargetAssignmentMetadataKey", 6, *GROUP_KEY),
    Record(
        "ConsumerGroupTargetAssignmentMetadataValue",
        range(1),
        (F("assignment_epoch", "int32"), F("assignment_timestamp", "int64", tag=0)),
        flexible_since=0,
    ),
    key("ConsumerGroupTargetAssignmentMemberKey", 7, *MEMBER_KEY),
    Record(
        "ConsumerGroupTargetAssignmentMemberValue",
        range(1),
        (F("topic_partitions", "[]TopicPartition"),),
        flexible_since=0,
        structs=(("TopicPartition", (F("topic_id", "uuid"), F("partitions", "[]int32"))),),
    ),
    key("ConsumerGroupCurrentMemberAssignmentKey", 8, *MEMBER_KEY),
    Record(
        "ConsumerGroupCurrentMemberAssignmentValue",
        range(1),
        (
            F("member_epoch", "int32"),
            F("previous_member_epoch", "int32"),
            F("state", "int8"),
            F("assigned_partitions", "[]TopicPartitions"),
            F("partitions_pending_revocation", "[]TopicPartitions"),
        ),
        flexible_since=0,
        structs=(
            (
                "TopicPartitions",
                (
                    F("topic_id", "uuid"),
                    F("partitions", "[]int32"),
                    F("assignment_epochs", "[]?int32", tag=0, default=None),
                ),
            ),
        ),
    ),
    key("ConsumerGroupRegularExpressionKey", 16, F("group_id", "string"), F("regular_expression", "string")),
    Record(
        "ConsumerGroupRegularExpressionValue",
        range(1),
        (F("topics", "[]string"), F("version", "int64"), F("timestamp", "int64")),
        flexible_since=0,
    ),
)

MODULES = {
    "transaction_log": TRANSACTION_LOG,
    "offset_commit_record": OFFSET_COMMIT,
    "group_metadata_record": GROUP_METADATA,
    "consumer_group_record": CONSUMER_GROUP,
}


def message(record: Record) -> Message:
    versions = frozenset(record.versions)
    flexible = frozenset(v for v in versions if record.flexible_since is not None and v >= record.flexible_since)
    structs = {
        name: Struct(name, versions, flexible, [_field(each, versions) for each in fields])
        for name, fields in (*record.structs, (record.name, record.fields))
    }
    return Message(structs[record.name], structs, base="VersionedRecord")


def _field(each: F, among: frozenset[int]) -> Field:
    versions = frozenset(v for v in among if v >= each.since and (each.until is None or v <= each.until))
    is_array = each.type.startswith("[]")
    plain = each.type.removeprefix("[]")
    is_nullable = plain.startswith("?")
    plain = plain.removeprefix("?")
    is_struct = plain[0].isupper()
    return Field(
        name=each.name,
        kind="struct" if is_struct else plain,
        versions=versions,
        is_array=is_array,
        struct_name=plain if is_struct else None,
        nullable=versions if is_nullable else frozenset(),
        tag=each.tag,
        default=each.default,
    )
