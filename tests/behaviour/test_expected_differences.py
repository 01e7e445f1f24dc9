"""What this broker does otherwise on purpose, where no test beside this one comes across it."""

import struct
from typing import Any

import crc32c

from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fencepost.wire.messages.describe_groups import DescribeGroupsRequest
from fencepost.wire.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from fencepost.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.behaviour.grouping import join_alone
from tests.behaviour.peer import Peer
from tests.behaviour.producing import TIMESTAMP_MS, batch_of, produce
from tests.behaviour.test_fetch import delete_records

TOPIC, BROKER = 2, 4
SET = 0
MAX_TIMESTAMP = -3
CRC_AT, ATTRIBUTES_AT = 17, 21


def with_attributes(batch: bytes, attributes: int) -> bytes:
    """The batch with other attributes and a checksum that holds."""
    rest = struct.pack(">h", attributes) + batch[ATTRIBUTES_AT + 2 :]
    return batch[:CRC_AT] + struct.pack(">I", crc32c.crc32c(rest)) + rest


def alter(peer: Peer, resource_type: int, name: str, setting: str, value: str) -> int:
    resource = AlterConfigsResource(resource_type, name, [AlterableConfig(setting, SET, value)])
    return int(peer.put(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses[0].error_code)


def describe_setting(peer: Peer, resource_type: int, name: str, setting: str) -> Any:
    resource = DescribeConfigsResource(resource_type, name, [setting])
    return peer.put(DescribeConfigsRequest(resources=[resource], include_synonyms=True), 4).results[0].configs[0]


def test_an_automatic_topic_is_described_at_once(peer: Peer) -> None:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=peer.name("automatic"))], allow_auto_topic_creation=True
    )
    error_code = peer.put(request, 12).topics[0].error_code
    not_yet = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert error_code == peer.differs("automatic-topic-at-once", kafka=not_yet, fencepost=ErrorCode.NONE)


def test_an_undefined_codec_is_named(peer: Peer) -> None:
    error_code = produce(peer.client, peer.create_topic(), with_attributes(batch_of(b"v"), 5)).error_code
    unsupported, unknown = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.UNKNOWN_SERVER_ERROR
    assert error_code == peer.differs("undefined-codec", kafka=unknown, fencepost=unsupported)


def test_settings_of_the_broker_are_given_at_its_start(peer: Peer) -> None:
    setting = describe_setting(peer, BROKER, "1", "log.retention.ms")
    assert setting.read_only == peer.differs("broker-settings-fixed", kafka=False, fencepost=True)
    same = setting.value  # the tests that come after share this broker
    altered = alter(peer, BROKER, "1", "log.retention.ms", same)
    refused = altered != ErrorCode.NONE
    assert refused == peer.differs("broker-settings-fixed", kafka=False, fencepost=True)


def test_the_host_of_a_member_has_no_slash(peer: Peer) -> None:
    group = peer.name("group")
    join_alone(peer, group)
    [member] = peer.put(DescribeGroupsRequest(groups=[group]), 5).groups[0].members
    assert member.client_host == peer.differs("host-without-slash", kafka="/127.0.0.1", fencepost="127.0.0.1")


def test_the_highest_time_is_looked_for_in_what_is_left(peer: Peer) -> None:
    topic = peer.create_topic()
    for timestamp_ms in (TIMESTAMP_MS + 50, TIMESTAMP_MS):
        produce(peer.client, topic, batch_of(b"v", timestamp_ms=timestamp_ms))
    assert delete_records(peer, topic, 1) == (0, 1)
    wanted = ListOffsetsTopic(name=topic, partitions=[ListOffsetsPartition(0, timestamp=MAX_TIMESTAMP)])
    answer = peer.put(ListOffsetsRequest(replica_id=-1, topics=[wanted]), 7).topics[0].partitions[0]
    assert answer.offset == peer.differs("highest-time-that-is-left", kafka=0, fencepost=1)


def test_the_size_of_the_volume_is_not_told(peer: Peer) -> None:
    topic = peer.create_topic()
    answer = peer.put(DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic=topic, partitions=[0])]), 4)
    is_told = answer.results[0].total_bytes > 0
    assert is_told == peer.differs("volume-size", kafka=True, fencepost=False)
