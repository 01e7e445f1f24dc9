"""CreateTopics, DeleteTopics and CreatePartitions."""

from typing import Any
from uuid import UUID

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.unit.broker.builders import Broker, versions_of


def create(broker: Broker, *topics: CreatableTopic, version: int = 7, validate_only: bool = False) -> list[Any]:
    return list(broker.ask(CreateTopicsRequest(topics=list(topics), validate_only=validate_only), version).topics)


def partition_count(broker: Broker, name: str) -> int:
    return len(broker.core.state.catalogue.topics[name].partition_refs)


@pytest.mark.parametrize("version", versions_of("CreateTopics"))
def test_a_created_topic_can_be_written_to_and_survives_a_kill(broker: Broker, version: int) -> None:
    (result,) = create(broker, CreatableTopic("orders", 3, 1), version=version)
    assert (result.name, result.error_code) == ("orders", ErrorCode.NONE)
    assert broker.produce("orders", b"a", partition=2).error_code == ErrorCode.NONE
    assert broker.after_kill().values("orders", 2) == [b"a"]


def test_the_answer_tells_id_counts_and_settings(broker: Broker) -> None:
    configs = [CreatableTopicConfig("retention.ms", "1000")]
    (result,) = create(broker, CreatableTopic("orders", 3, 1, configs=configs))
    assert (result.topic_id, result.num_partitions, result.replication_factor) == (broker.topic_id("orders"), 3, 1)
    settings = {config.name: (config.value, config.config_source) for config in result.configs}
    assert settings["retention.ms"] == ("1000", 1)
    assert settings["max.message.bytes"] == ("1048588", 5)


def test_counts_that_are_left_open_come_from_the_broker() -> None:
    broker = Broker(num_partitions="4", message_max_bytes="2000")
    (result,) = create(broker, CreatableTopic("orders", -1, -1))
    assert (result.num_partitions, result.replication_factor) == (4, 1)
    settings = {config.name: (config.value, config.config_source) for config in result.configs}
    assert settings["max.message.bytes"] == ("2000", 4)


def test_more_replicas_are_accepted_and_one_copy_is_kept(broker: Broker) -> None:
    (result,) = create(broker, CreatableTopic("orders", 1, 3))
    assert (result.error_code, result.replication_factor) == (ErrorCode.NONE, 3)


def test_a_manual_assignment_counts_the_partitions(broker: Broker) -> None:
    rows = [CreatableReplicaAssignment(index, [1]) for index in (1, 0)]
    create(broker, CreatableTopic("orders", -1, -1, rows))
    assert partition_count(broker, "orders") == 2


@pytest.mark.parametrize(
    ("topic", "error_code"),
    [
        (CreatableTopic("a b", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (CreatableTopic("orders", 0, 1), ErrorCode.INVALID_PARTITIONS),
        (CreatableTopic("orders", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (CreatableTopic("orders", 1, 1, [CreatableReplicaAssignment(0, [1])]), ErrorCode.INVALID_REQUEST),
        (CreatableTopic("orders", -1, -1, [CreatableReplicaAssignment(1, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (CreatableTopic("orders", 1, 1, configs=[CreatableTopicConfig("retention.ms", "x")]), ErrorCode.INVALID_CONFIG),
        (CreatableTopic("orders", 1, 1, configs=[CreatableTopicConfig("retention", "1")]), ErrorCode.INVALID_CONFIG),
        (
            CreatableTopic("orders", 1, 1, configs=[CreatableTopicConfig("retention.ms", None)]),
            ErrorCode.INVALID_CONFIG,
        ),
        (CreatableTopic("exists", 1, 1), ErrorCode.TOPIC_ALREADY_EXISTS),
        (CreatableTopic("exists.too", 1, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_a_topic_that_cannot_be_is_refused_with_a_reason(
    broker: Broker, topic: CreatableTopic, error_code: ErrorCode
) -> None:
    create(broker, CreatableTopic("exists", 1, 1), CreatableTopic("exists_too", 1, 1))
    (result,) = create(broker, topic)
    assert result.error_code == error_code
    assert result.error_message


def test_a_name_that_comes_twice_is_refused_once(broker: Broker) -> None:
    (result,) = create(broker, CreatableTopic("orders", 1, 1), CreatableTopic("orders", 2, 1))
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert "orders" not in broker.core.state.catalogue.topics


@pytest.mark.parametrize("version", versions_of("DeleteTopics"))
def test_a_deleted_topic_is_gone_and_its_name_can_be_used_anew(broker: Broker, version: int) -> None:
    broker.create_topic("orders")
    broker.produce("orders", b"old")
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name="orders")], topic_names=["orders"])
    assert broker.ask(request, version).responses[0].error_code == ErrorCode.NONE
    assert broker.fetch("orders").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.create_topic("orders")
    assert broker.values("orders") == broker.after_kill().values("orders") == []


def test_topics_are_deleted_by_id_from_v6_on(broker: Broker) -> None:
    broker.create_topic("orders")
    wanted = [DeleteTopicState(name=None, topic_id=each) for each in (broker.topic_id("orders"), UUID(int=9))]
    found, unknown = broker.ask(DeleteTopicsRequest(topics=wanted), 6).responses
    assert (found.name, found.error_code) == ("orders", ErrorCode.NONE)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_topic_that_is_named_twice_or_badly_is_not_deleted(broker: Broker) -> None:
    broker.create_topic("orders")
    topic_id = broker.topic_id("orders")
    by_name, by_id = DeleteTopicState(name="orders"), DeleteTopicState(name=None, topic_id=topic_id)
    by_both, by_neither = DeleteTopicState("orders", topic_id), DeleteTopicState(name=None)
    for wanted in ([by_name, by_name], [by_name, by_id], [by_both], [by_neither]):
        (result,) = broker.ask(DeleteTopicsRequest(topics=wanted), 6).responses
        assert result.error_code == ErrorCode.INVALID_REQUEST
    assert "orders" in broker.core.state.catalogue.topics


def test_deletion_may_be_forbidden_and_internal_topics_stay() -> None:
    broker = Broker(delete_topic_enable="false")
    broker.create_topic("orders")
    request = DeleteTopicsRequest(topic_names=["orders"])
    assert broker.ask(request, 5).responses[0].error_code == ErrorCode.TOPIC_DELETION_DISABLED
    request = DeleteTopicsRequest(topic_names=["__consumer_offsets", "nowhere"])
    internal, unknown = Broker().ask(request, 5).responses
    assert internal.error_code == ErrorCode.INVALID_REQUEST
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def grow(broker: Broker, name: str, count: int, *, version: int = 3, **more: Any) -> Any:
    assignments = more.pop("assignments", None)
    topic = CreatePartitionsTopic(name, count, assignments)
    return broker.ask(CreatePartitionsRequest([topic], **more), version).results[0]


@pytest.mark.parametrize("version", versions_of("CreatePartitions"))
def test_added_partitions_can_be_written_to_and_survive_a_kill(broker: Broker, version: int) -> None:
    broker.create_topic("orders", 1)
    assert grow(broker, "orders", 3, version=version).error_code == ErrorCode.NONE
    assert broker.produce("orders", b"a", partition=2).error_code == ErrorCode.NONE
    reopened = broker.restarted()
    assert partition_count(reopened, "orders") == 3
    assert reopened.values("orders", 2) == [b"a"]


@pytest.mark.parametrize(
    ("name", "count", "more", "error_code"),
    [
        ("orders", 2, {}, ErrorCode.INVALID_PARTITIONS),
        ("orders", 1, {}, ErrorCode.INVALID_PARTITIONS),
        ("orders", 10**6, {}, ErrorCode.INVALID_PARTITIONS),
        ("nowhere", 3, {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("__consumer_offsets", 60, {}, ErrorCode.INVALID_REQUEST),
        ("orders", 4, {"assignments": [CreatePartitionsAssignment([1])]}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_partitions_that_cannot_be_added_are_refused_with_a_reason(
    broker: Broker, name: str, count: int, more: dict[str, Any], error_code: ErrorCode
) -> None:
    broker.create_topic("orders", 2)
    result = grow(broker, name, count, **more)
    assert result.error_code == error_code
    assert result.error_message
    assert partition_count(broker, "orders") == 2


def test_a_fitting_assignment_is_taken(broker: Broker) -> None:
    broker.create_topic("orders", 2)
    assert grow(broker, "orders", 3, assignments=[CreatePartitionsAssignment([1])]).error_code == ErrorCode.NONE
    assert partition_count(broker, "orders") == 3


def test_a_topic_that_comes_twice_is_refused_once(broker: Broker) -> None:
    broker.create_topic("orders", 2)
    topics = [CreatePartitionsTopic("orders", 3, None), CreatePartitionsTopic("orders", 4, None)]
    (result,) = broker.ask(CreatePartitionsRequest(topics)).results
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert partition_count(broker, "orders") == 2


def test_validation_adds_nothing(broker: Broker) -> None:
    broker.create_topic("orders", 2)
    assert grow(broker, "orders", 3, validate_only=True).error_code == ErrorCode.NONE
    assert partition_count(broker, "orders") == 2
