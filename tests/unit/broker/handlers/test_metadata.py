from uuid import UUID

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.unit.broker.builders import HOST, PORT, Broker, versions_of

INTERNAL = {"__consumer_offsets", "__transaction_state"}


def wanted(*names: str) -> list[MetadataRequestTopic]:
    return [MetadataRequestTopic(name=name) for name in names]


@pytest.mark.parametrize("version", versions_of("Metadata"))
def test_a_topic_is_described_with_this_broker_as_its_only_replica(broker: Broker, version: int) -> None:
    broker.create_topic("orders", 2)
    reply = broker.ask(MetadataRequest(wanted("orders")), version)
    assert [(each.node_id, each.host, each.port) for each in reply.brokers] == [(1, HOST, PORT)]
    (topic,) = reply.topics
    assert (topic.error_code, topic.name, topic.is_internal) == (ErrorCode.NONE, "orders", False)
    assert [(each.partition_index, each.leader_id, each.replica_nodes) for each in topic.partitions] == [
        (0, 1, [1]),
        (1, 1, [1]),
    ]


@pytest.mark.parametrize("version", versions_of("Metadata"))
def test_all_topics_are_asked_for_by_null_or_in_v0_by_an_empty_list(broker: Broker, version: int) -> None:
    broker.create_topic("orders")
    reply = broker.ask(MetadataRequest([] if version == 0 else None), version)
    assert {topic.name for topic in reply.topics} == {"orders"} | INTERNAL


@pytest.mark.parametrize("version", versions_of("Metadata")[1:])
def test_an_empty_list_asks_for_no_topics(broker: Broker, version: int) -> None:
    assert broker.ask(MetadataRequest([]), version).topics == []


@pytest.mark.parametrize("version", versions_of("Metadata"))
def test_a_topic_that_does_not_exist_is_created_and_described_at_once(version: int) -> None:
    broker = Broker(num_partitions="3")
    (topic,) = broker.ask(MetadataRequest(wanted("orders"), allow_auto_topic_creation=True), version).topics
    assert (topic.error_code, len(topic.partitions)) == (ErrorCode.NONE, 3)
    assert "orders" in broker.after_kill().core.state.catalogue.topics


def test_the_answer_waits_until_the_created_topic_is_on_disk(broker: Broker) -> None:
    sent = broker.send(MetadataRequest(wanted("orders")), 12)
    assert sent.reply is None
    broker.commit()
    assert sent.reply.topics[0].error_code == ErrorCode.NONE


def test_the_broker_may_forbid_creation() -> None:
    broker = Broker(auto_create_topics_enable="false")
    (topic,) = broker.ask(MetadataRequest(wanted("orders")), 12).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ü", "a" * 250])
def test_a_name_that_is_not_legal_creates_nothing(broker: Broker, name: str) -> None:
    (topic,) = broker.ask(MetadataRequest(wanted(name)), 12).topics
    assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert set(broker.core.state.catalogue.topics) == INTERNAL


@pytest.mark.parametrize("version", [12, 13])
def test_a_topic_can_be_asked_for_by_its_id(broker: Broker, version: int) -> None:
    broker.create_topic("orders")
    known = MetadataRequestTopic(topic_id=broker.topic_id("orders"), name=None)
    unknown = MetadataRequestTopic(topic_id=UUID(int=9), name=None)
    found, missing = broker.ask(MetadataRequest([known, unknown]), version).topics
    assert (found.name, found.error_code) == ("orders", ErrorCode.NONE)
    assert (missing.topic_id, missing.error_code) == (UUID(int=9), ErrorCode.UNKNOWN_TOPIC_ID)


@pytest.mark.parametrize("version", [10, 11])
def test_a_topic_cannot_be_asked_for_by_id_before_v12(broker: Broker, version: int) -> None:
    broker.create_topic("orders")
    by_id = MetadataRequestTopic(topic_id=broker.topic_id("orders"), name=None)
    by_neither = MetadataRequestTopic(name=None)
    for topic in broker.ask(MetadataRequest([by_id, by_neither]), version).topics:
        assert (topic.error_code, topic.name) == (ErrorCode.INVALID_REQUEST, "")


@pytest.mark.parametrize(("version", "cluster"), [(8, 8096), (10, 8096), (12, -(2**31))])
def test_authorized_operations_are_told_to_those_who_ask(broker: Broker, version: int, cluster: int) -> None:
    broker.create_topic("orders")
    asking = MetadataRequest(
        wanted("orders"), include_cluster_authorized_operations=True, include_topic_authorized_operations=True
    )
    reply = broker.ask(asking, version)
    assert (reply.cluster_authorized_operations, reply.topics[0].topic_authorized_operations) == (cluster, 3576)
    silent = broker.ask(MetadataRequest(wanted("orders")), version)
    assert silent.topics[0].topic_authorized_operations == -(2**31)


def test_the_cluster_id_stays_the_same_over_restarts(broker: Broker) -> None:
    before = broker.ask(MetadataRequest([]), 12).cluster_id
    assert len(before) == 22
    assert broker.restarted().ask(MetadataRequest([]), 12).cluster_id == before
