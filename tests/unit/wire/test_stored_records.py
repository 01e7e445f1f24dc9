"""What the coordinators store has the bytes of Apache Kafka 4.3.1's own classes, from which these were captured."""

from uuid import UUID

import pytest

from fencepost.errors import WireError
from fencepost.wire.message import VersionedRecord, record_version
from fencepost.wire.messages import consumer_group_record as consumer_group
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from fencepost.wire.messages.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue

UPDATED_MS = 1_700_000_000_123
TOPIC_ID = UUID("00000000-0000-0001-0000-000000000002")
OTHER_TOPIC_ID = UUID("00000000-0000-0003-0000-000000000004")


def transaction(**more: int) -> TransactionLogValue:
    return TransactionLogValue(
        producer_id=4000,
        producer_epoch=7,
        transaction_timeout_ms=60_000,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema("orders", [0, 5])],
        transaction_last_update_timestamp_ms=UPDATED_MS,
        transaction_start_timestamp_ms=-1,
        **more,
    )


def offset(**more: int) -> OffsetCommitValue:
    return OffsetCommitValue(offset=42, metadata="méta", commit_timestamp=UPDATED_MS, **more)


def group(
    *, timestamp: int = -1, rebalance_timeout: int = -1, group_instance_id: str | None = None
) -> GroupMetadataValue:
    member = MemberMetadata(
        member_id="m-1",
        group_instance_id=group_instance_id,
        client_id="c",
        client_host="/127.0.0.1",
        rebalance_timeout=rebalance_timeout,
        session_timeout=10_000,
        subscription=b"\x01\x02",
        assignment=b"",
    )
    return GroupMetadataValue("consumer", 3, "range", None, timestamp, [member])


def member(classic: consumer_group.ClassicMemberMetadata | None) -> consumer_group.ConsumerGroupMemberMetadataValue:
    return consumer_group.ConsumerGroupMemberMetadataValue(
        instance_id=None,
        rack_id="r",
        client_id="c",
        client_host="h",
        subscribed_topic_names=["a", "b"],
        subscribed_topic_regex=None,
        rebalance_timeout_ms=1000,
        server_assignor="uniform",
        classic_member_metadata=classic,
    )


CAPTURED: list[tuple[VersionedRecord, int, str]] = [
    (TransactionLogKey("shop"), 0, "0000000473686f70"),
    (
        transaction(),
        0,
        "00000000000000000fa000070000ea60010000000100066f7264657273000000020000000000000005"
        "0000018bcfe5687bffffffffffffffff",
    ),
    (
        transaction(previous_producer_id=3999, next_producer_id=4001, client_transaction_version=2),
        1,
        "00010000000000000fa000070000ea600102076f72646572730300000000000000050000"
        "00018bcfe5687bffffffffffffffff0300080000000000000f9f01080000000000000fa102020002",
    ),
    (
        TransactionLogValue(producer_id=1, transaction_partitions=None),
        1,
        "0001000000000000000100000000000000000000000000000000000000000000000000",
    ),
    (OffsetCommitKey("g", "t", 3), 1, "00010001670001740000" + "0003"),
    (offset(), 0, "0000000000000000002a00056dc3a974610000018bcfe5687b"),
    (
        offset(expire_timestamp=1_700_000_000_999),
        1,
        "0001000000000000002a00056dc3a974610000018bcfe5687b0000018bcfe56be7",
    ),
    (offset(), 2, "0002000000000000002a00056dc3a974610000018bcfe5687b"),
    (offset(leader_epoch=9), 3, "0003000000000000002a0000000900056dc3a974610000018bcfe5687b"),
    (
        OffsetCommitValue(42, 9, "méta", UPDATED_MS, topic_id=TOPIC_ID),
        4,
        "0004000000000000002a00000009066dc3a974610000018bcfe5687b01001000000000000000010000000000000002",
    ),
    (GroupMetadataKey("g"), 2, "0002000167"),
    (
        group(),
        0,
        "00000008636f6e73756d657200000003000572616e6765ffff0000000100036d2d31000163000a2f3132372e302e302e31"
        "0000271000000002010200000000",
    ),
    (
        group(rebalance_timeout=300_000),
        1,
        "00010008636f6e73756d657200000003000572616e6765ffff0000000100036d2d31000163000a2f3132372e302e302e31"
        "000493e00000271000000002010200000000",
    ),
    (
        group(rebalance_timeout=300_000, timestamp=UPDATED_MS),
        2,
        "00020008636f6e73756d657200000003000572616e6765ffff0000018bcfe5687b0000000100036d2d31000163000a2f3132372e302e302e31"
        "000493e00000271000000002010200000000",
    ),
    (
        group(rebalance_timeout=300_000, timestamp=UPDATED_MS, group_instance_id="i-1"),
        3,
        "00030008636f6e73756d657200000003000572616e6765ffff0000018bcfe5687b0000000100036d2d310003692d31000163"
        "000a2f3132372e302e302e31000493e00000271000000002010200000000",
    ),
    (
        group(rebalance_timeout=300_000, timestamp=UPDATED_MS, group_instance_id="i-1"),
        4,
        "000409636f6e73756d6572000000030672616e6765000000018bcfe5687b02046d2d3104692d3102630b2f3132372e302e302e31"
        "000493e000002710030102010000",
    ),
    (consumer_group.ConsumerGroupMetadataKey("g"), 3, "0003000167"),
    (consumer_group.ConsumerGroupMetadataValue(epoch=5, metadata_hash=77), 0, "000000000005010008000000000000004d"),
    (
        consumer_group.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=6, assignment_timestamp=123),
        0,
        "000000000006010008000000000000007b",
    ),
    (member(None), 0, "000000027202630268030261026200000003e808756e69666f726d00"),
    (
        member(consumer_group.ClassicMemberMetadata(45_000, [consumer_group.ClassicProtocol("range", b"\x09")])),
        0,
        "000000027202630268030261026200000003e808756e69666f726d010010010000afc8020672616e676502090000",
    ),
    (
        consumer_group.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=3,
            previous_member_epoch=2,
            state=1,
            assigned_partitions=[consumer_group.TopicPartitions(TOPIC_ID, [0, 1], [3, 3])],
            partitions_pending_revocation=[consumer_group.TopicPartitions(OTHER_TOPIC_ID, [2])],
        ),
        0,
        "00000000000300000002010200000000000000010000000000000002030000000000000001010009030000000300000003"
        "020000000000000003000000000000000402000000020000",
    ),
    (
        consumer_group.ConsumerGroupTargetAssignmentMemberValue([consumer_group.TopicPartition(TOPIC_ID, [0])]),
        0,
        "0000020000000000000001000000000000000202000000000000",
    ),
    (
        consumer_group.ConsumerGroupPartitionMetadataValue(
            [consumer_group.TopicMetadata(TOPIC_ID, "t", 2, [consumer_group.PartitionMetadata(1, ["r"])])]
        ),
        0,
        "000002000000000000000100000000000000020274000000020200000001020272000000",
    ),
    (
        consumer_group.ConsumerGroupRegularExpressionValue(topics=["a"], version=8, timestamp=9),
        0,
        "00000202610000000000000008000000000000000900",
    ),
]


@pytest.mark.parametrize(("record", "version", "captured"), CAPTURED)
def test_records_have_the_bytes_of_kafkas_own_classes(record: VersionedRecord, version: int, captured: str) -> None:
    assert record.to_bytes(version).hex() == captured
    assert type(record).from_bytes(bytes.fromhex(captured)) == record
    assert record_version(bytes.fromhex(captured)) == version


def test_the_last_producer_epoch_is_kept_under_a_tag_of_our_own() -> None:
    kept = transaction(last_producer_epoch=6)
    written = kept.to_bytes(1)
    assert TransactionLogValue.from_bytes(written) == kept
    assert written == transaction().to_bytes(1)[:-1] + b"\x01\x90\x4e\x02\x00\x06"


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x02rest", b"\xff\xffrest"])
def test_a_record_of_an_unknown_version_is_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        TransactionLogValue.from_bytes(data)


def test_a_record_that_is_cut_short_is_refused() -> None:
    whole = transaction().to_bytes(1)
    for size in range(len(whole)):
        with pytest.raises(WireError):
            TransactionLogValue.from_bytes(whole[:size])


def test_a_subscription_of_a_newer_version_is_read_as_the_newest_known() -> None:
    subscription = ConsumerProtocolSubscription(topics=["orders"], user_data=None, generation_id=4, rack_id="r")
    newer = b"\x00\x09" + subscription.to_bytes(3)[2:] + b"fields to come"
    assert ConsumerProtocolSubscription.from_bytes(newer) == subscription
