"""The administrator's calls of kafka-python."""

from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec
from kafka.errors import (
    GroupSubscribedToTopicError,
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidTopicError,
    NoError,
    OffsetOutOfRangeError,
    TopicAlreadyExistsError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.kafka_python.clients import admin, consumer, create_topic, producer, read, read_all, send


@pytest.fixture
def manager(broker: EmbeddedBroker) -> Iterator[KafkaAdminClient]:
    with admin(broker.bootstrap_servers) as client:
        yield client


def test_topics_are_created_described_grown_and_deleted(manager: KafkaAdminClient, name: str) -> None:
    manager.create_topics({name: {"num_partitions": 2, "replication_factor": 1}}, wait_for_metadata=True)
    (described,) = manager.describe_topics([name])
    assert len(described["partitions"]) == 2
    assert not described["is_internal"]
    manager.create_partitions({name: 5})
    (described,) = manager.describe_topics([name])
    assert sorted(partition["partition_index"] for partition in described["partitions"]) == [0, 1, 2, 3, 4]
    manager.delete_topics([name])
    assert name not in manager.list_topics()


def test_calls_that_make_no_sense_are_refused_by_name(manager: KafkaAdminClient, name: str) -> None:
    manager.create_topics({name: {"num_partitions": 2}})
    with pytest.raises(TopicAlreadyExistsError):
        manager.create_topics([name])
    with pytest.raises(InvalidPartitionsError):
        manager.create_partitions({name: 1})
    with pytest.raises(UnknownTopicOrPartitionError):
        manager.delete_topics([f"{name}-unknown"])
    with pytest.raises(InvalidTopicError):
        manager.create_topics(["no spaces"])
    with pytest.raises(InvalidConfigurationError):
        manager.create_topics({f"{name}-wrong": {"configs": {"retention.ms": "soon"}}})


def test_creation_can_be_tried_without_being_done(manager: KafkaAdminClient, name: str) -> None:
    manager.create_topics([name], validate_only=True)
    assert name not in manager.list_topics()


def test_settings_of_a_topic_are_described_altered_and_reset(manager: KafkaAdminClient, name: str) -> None:
    manager.create_topics({name: {"configs": {"retention.ms": "1000"}}})

    def described() -> dict[str, Any]:
        resource = ConfigResource(ConfigResourceType.TOPIC, name)
        settings = manager.describe_configs([resource], config_filter="all")["topic"][name]
        return {key: setting["value"] for key, setting in settings.items()}

    assert described()["retention.ms"] == "1000"
    manager.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, {"cleanup.policy": "compact"})])
    assert (described()["cleanup.policy"], described()["retention.ms"]) == ("compact", "1000")
    manager.reset_configs([ConfigResource(ConfigResourceType.TOPIC, name, {"retention.ms": None})])
    assert (described()["cleanup.policy"], described()["retention.ms"]) == ("compact", "-1")


def test_the_cluster_is_described(broker: EmbeddedBroker, manager: KafkaAdminClient) -> None:
    cluster = manager.describe_cluster()
    assert cluster["controller_id"] == 1
    assert [(node["broker_id"], node["host"], node["port"]) for node in cluster["brokers"]] == [
        (1, broker.host, broker.port)
    ]


def test_records_are_deleted_and_offsets_listed(broker: EmbeddedBroker, manager: KafkaAdminClient, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    part = TopicPartition(name, 0)
    with producer(broker.bootstrap_servers) as client:
        for number in range(10):
            send(client, name, b"%d" % number, timestamp_ms=1_700_000_000_000 - number)

    def listed(spec: Any) -> int:
        return int(manager.list_partition_offsets({part: spec})[part].offset)

    assert manager.delete_records({part: 4})[part]["low_watermark"] == 4
    assert listed(OffsetSpec.EARLIEST) == 4
    assert listed(OffsetSpec.LATEST) == 10
    assert listed(OffsetSpec.MAX_TIMESTAMP) == 4
    assert listed(1_699_999_999_995) == 4
    with pytest.raises(OffsetOutOfRangeError):
        manager.delete_records({part: 11})
    assert [record.offset for record in read_all(broker.bootstrap_servers, name)] == list(range(4, 10))


@pytest.fixture
def member(broker: EmbeddedBroker, name: str) -> Iterator[Any]:
    """A group's only member, which has committed 3 of 5 records."""
    create_topic(broker.bootstrap_servers, name)
    with producer(broker.bootstrap_servers) as client:
        for number in range(5):
            send(client, name, b"%d" % number)
    with consumer(broker.bootstrap_servers, name, group_id=name, client_id="me") as reader:
        read(reader, 5)
        reader.commit({TopicPartition(name, 0): OffsetAndMetadata(3, "note", -1)})
        yield reader


def test_groups_are_listed_described_and_deleted(manager: KafkaAdminClient, member: Any, name: str) -> None:
    (listed,) = [group for group in manager.list_groups(states_filter=["Stable"]) if group["group_id"] == name]
    assert listed["protocol_type"] == "consumer"
    described = manager.describe_groups([name])[name]
    assert described["group_state"] == "Stable"
    (only,) = described["members"]
    assert (only["client_id"], only["client_host"]) == ("me", "127.0.0.1")
    assert manager.delete_groups([name]) == {name: "NonEmptyGroupError"}
    member.close()
    assert manager.delete_groups([name]) == {name: "OK"}
    assert manager.delete_groups([name]) == {name: "GroupIdNotFoundError"}


def test_offsets_of_a_group_are_listed_altered_and_deleted(manager: KafkaAdminClient, member: Any, name: str) -> None:
    part = TopicPartition(name, 0)
    earlier = {part: OffsetAndMetadata(1, "", -1)}
    assert manager.list_group_offsets([name])[name][part][:2] == (3, "note")
    assert manager.alter_group_offsets(name, earlier) == {part: UnknownMemberIdError}
    assert manager.delete_group_offsets(name, [part]) == {part: GroupSubscribedToTopicError}
    member.close()
    assert manager.alter_group_offsets(name, earlier) == {part: NoError}
    assert manager.list_group_offsets([name])[name][part].offset == 1
    assert manager.delete_group_offsets(name, [part]) == {part: NoError}
    assert manager.list_group_offsets([name])[name] == {}
