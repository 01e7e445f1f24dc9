"""The administrator's calls of confluent-kafka."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import admin, consumer, create_topic, producer, read, send
from tests.interop.support import DEADLINE_S, wait_for


@pytest.fixture
def manager(broker: EmbeddedBroker) -> AdminClient:
    return admin(broker.bootstrap_servers)


def refused_with(call: Callable[[], Any]) -> int:
    with pytest.raises(KafkaException) as refused:
        call()
    return int(refused.value.args[0].code())


def test_topics_are_created_described_grown_and_deleted(manager: AdminClient, name: str) -> None:
    manager.create_topics([NewTopic(name, 2, 1)])[name].result(DEADLINE_S)
    described = manager.describe_topics(TopicCollection([name]))[name].result(DEADLINE_S)
    assert [partition.id for partition in described.partitions] == [0, 1]
    assert not described.is_internal

    manager.create_partitions([NewPartitions(name, 5)])[name].result(DEADLINE_S)
    assert len(manager.list_topics(name, timeout=DEADLINE_S).topics[name].partitions) == 5

    manager.delete_topics([name])[name].result(DEADLINE_S)
    missing = manager.describe_topics(TopicCollection([name]))[name]
    assert refused_with(lambda: missing.result(DEADLINE_S)) == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_calls_that_make_no_sense_are_refused_by_name(manager: AdminClient, name: str) -> None:
    manager.create_topics([NewTopic(name, 2, 1)])[name].result(DEADLINE_S)
    again = manager.create_topics([NewTopic(name, 2, 1)])[name]
    assert refused_with(lambda: again.result(DEADLINE_S)) == KafkaError.TOPIC_ALREADY_EXISTS
    fewer = manager.create_partitions([NewPartitions(name, 1)])[name]
    assert refused_with(lambda: fewer.result(DEADLINE_S)) == KafkaError.INVALID_PARTITIONS
    unknown = manager.delete_topics([f"{name}-unknown"])[f"{name}-unknown"]
    assert refused_with(lambda: unknown.result(DEADLINE_S)) == KafkaError.UNKNOWN_TOPIC_OR_PART
    spaced = manager.create_topics([NewTopic("no spaces", 1, 1)])["no spaces"]
    assert refused_with(lambda: spaced.result(DEADLINE_S)) == KafkaError.TOPIC_EXCEPTION
    wrong = manager.create_topics([NewTopic(f"{name}-wrong", 1, 1, config={"retention.ms": "soon"})])[f"{name}-wrong"]
    assert refused_with(lambda: wrong.result(DEADLINE_S)) == KafkaError.INVALID_CONFIG


def test_creation_can_be_tried_without_being_done(manager: AdminClient, name: str) -> None:
    manager.create_topics([NewTopic(name, 2, 1)], validate_only=True)[name].result(DEADLINE_S)
    assert name not in manager.list_topics(timeout=DEADLINE_S).topics


def test_settings_of_a_topic_are_described_and_altered(manager: AdminClient, name: str) -> None:
    manager.create_topics([NewTopic(name, 1, 1, config={"retention.ms": "1000"})])[name].result(DEADLINE_S)
    topic = ConfigResource(ResourceType.TOPIC, name)

    def described() -> dict[str, ConfigEntry]:
        (future,) = manager.describe_configs([topic]).values()
        return future.result(DEADLINE_S)

    assert described()["retention.ms"].value == "1000"
    assert not described()["retention.ms"].is_default
    assert described()["cleanup.policy"].is_default

    change = ConfigResource(
        ResourceType.TOPIC,
        name,
        incremental_configs=[
            ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET),
            ConfigEntry("retention.ms", None, incremental_operation=AlterConfigOpType.DELETE),
        ],
    )
    (future,) = manager.incremental_alter_configs([change]).values()
    future.result(DEADLINE_S)
    assert described()["cleanup.policy"].value == "compact"
    assert described()["retention.ms"].value == "-1"

    topic_settings = ConfigResource(ResourceType.TOPIC, name, set_config={"max.message.bytes": "5000"})
    with pytest.warns(DeprecationWarning, match="incremental_alter_configs"):
        (future,) = manager.alter_configs([topic_settings]).values()
    future.result(DEADLINE_S)
    assert described()["max.message.bytes"].value == "5000"
    assert described()["cleanup.policy"].value == "delete"


def test_settings_of_the_broker_are_described(manager: AdminClient) -> None:
    (future,) = manager.describe_configs([ConfigResource(ResourceType.BROKER, "1")]).values()
    assert future.result(DEADLINE_S)["group.initial.rebalance.delay.ms"].value == "0"


def test_the_cluster_is_described(broker: EmbeddedBroker, manager: AdminClient) -> None:
    cluster = manager.describe_cluster().result(DEADLINE_S)
    assert [(node.id, node.host, node.port) for node in cluster.nodes] == [(1, broker.host, broker.port)]
    assert cluster.controller.id == 1
    assert cluster.cluster_id == manager.list_topics(timeout=DEADLINE_S).cluster_id


def test_records_are_deleted_and_offsets_listed(broker: EmbeddedBroker, manager: AdminClient, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    client = producer(broker.bootstrap_servers)
    for number in range(10):
        send(client, name, b"%d" % number, timestamp=1_700_000_000_000 - number)
    partition = TopicPartition(name, 0)

    def listed(spec: OffsetSpec) -> int:
        (future,) = manager.list_offsets(
            {partition: spec}, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=DEADLINE_S
        ).values()
        return int(future.result(DEADLINE_S).offset)

    (future,) = manager.delete_records([TopicPartition(name, 0, 4)]).values()
    assert future.result(DEADLINE_S).low_watermark == 4
    assert listed(OffsetSpec.earliest()) == 4
    assert listed(OffsetSpec.latest()) == 10
    assert listed(OffsetSpec.for_timestamp(1_699_999_999_995)) == 4
    assert listed(OffsetSpec.max_timestamp()) == 4

    (future,) = manager.delete_records([TopicPartition(name, 0, 11)]).values()
    assert refused_with(lambda: future.result(DEADLINE_S)) == KafkaError.OFFSET_OUT_OF_RANGE
    with consumer(broker.bootstrap_servers) as reader:
        reader.assign([TopicPartition(name, 0, 0)])
        assert [message.offset() for message in read(reader, 6)] == list(range(4, 10))


@pytest.fixture(params=["classic", "consumer"])
def committed_group(request: pytest.FixtureRequest, broker: EmbeddedBroker, name: str) -> Iterator[tuple[str, Any]]:
    """A group of each protocol with one member, which has committed 3 of 5 records."""
    create_topic(broker.bootstrap_servers, name)
    client = producer(broker.bootstrap_servers)
    for number in range(5):
        send(client, name, b"%d" % number)
    with consumer(broker.bootstrap_servers, group_id=name, group_protocol=request.param, client_id="me") as member:
        member.subscribe([name])
        member.commit(message=read(member, 3)[-1], asynchronous=False)
        yield request.param, member


def test_groups_are_listed_described_and_deleted(
    manager: AdminClient, committed_group: tuple[str, Any], name: str
) -> None:
    protocol, member = committed_group
    (listed,) = [
        group
        for group in manager.list_consumer_groups(states={ConsumerGroupState.STABLE}).result(DEADLINE_S).valid
        if group.group_id == name
    ]
    assert listed.type == (ConsumerGroupType.CONSUMER if protocol == "consumer" else ConsumerGroupType.CLASSIC)
    assert not listed.is_simple_consumer_group

    described = manager.describe_consumer_groups([name])[name].result(DEADLINE_S)
    assert described.state == ConsumerGroupState.STABLE
    assert described.coordinator.id == 1
    (only,) = described.members
    assert only.client_id == "me"
    assert only.host == "127.0.0.1"
    assert only.assignment.topic_partitions == [TopicPartition(name, 0)]

    busy = manager.delete_consumer_groups([name])[name]
    assert refused_with(lambda: busy.result(DEADLINE_S)) == KafkaError.NON_EMPTY_GROUP
    member.close()
    manager.delete_consumer_groups([name])[name].result(DEADLINE_S)
    gone = manager.delete_consumer_groups([name])[name]
    assert refused_with(lambda: gone.result(DEADLINE_S)) == KafkaError.GROUP_ID_NOT_FOUND


def test_offsets_of_a_group_are_listed_and_altered(
    manager: AdminClient, committed_group: tuple[str, Any], name: str
) -> None:
    _, member = committed_group

    def listed() -> int:
        asked = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0)])
        answer = manager.list_consumer_group_offsets([asked])[name].result(DEADLINE_S)
        return int(answer.topic_partitions[0].offset)

    def alter(offset: int) -> ConsumerGroupTopicPartitions:
        wanted = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0, offset)])
        return manager.alter_consumer_group_offsets([wanted])[name].result(DEADLINE_S)

    assert listed() == 3
    assert alter(1).topic_partitions[0].error.code() == KafkaError.UNKNOWN_MEMBER_ID
    member.close()
    assert alter(1).topic_partitions[0].error is None
    wait_for("the altered offset", lambda: listed() == 1)


def test_a_group_that_nobody_knows_is_described_as_dead(manager: AdminClient, name: str) -> None:
    described = manager.describe_consumer_groups([name])[name].result(DEADLINE_S)
    assert described.state == ConsumerGroupState.DEAD
