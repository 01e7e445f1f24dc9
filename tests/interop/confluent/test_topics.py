"""Topics that are not there, no longer there, or there again, as librdkafka meets them."""

from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.confluent.clients import (
    DeliveryFailed,
    admin,
    consumer,
    create_topic,
    producer,
    read,
    read_all,
    send,
)
from tests.interop.support import DEADLINE_S, wait_for


def test_a_producer_creates_the_topic_that_it_names(
    broker_with: Callable[[dict[str, str]], EmbeddedBroker], name: str
) -> None:
    broker = broker_with({"num.partitions": "4"})
    send(producer(broker.bootstrap_servers), name, b"v")
    (described,) = admin(broker.bootstrap_servers).list_topics(name, timeout=DEADLINE_S).topics.values()
    assert sorted(described.partitions) == [0, 1, 2, 3]


def test_an_unknown_topic_is_an_error_where_topics_are_not_created_by_themselves(
    broker_with: Callable[[dict[str, str]], EmbeddedBroker], name: str
) -> None:
    broker = broker_with({"auto.create.topics.enable": "false"})
    client = producer(broker.bootstrap_servers, topic_metadata_propagation_max_ms=200, message_timeout_ms=5_000)
    with pytest.raises(DeliveryFailed) as refused:
        send(client, name, b"v")
    assert refused.value.code == KafkaError.UNKNOWN_TOPIC_OR_PART
    assert name not in client.list_topics(timeout=DEADLINE_S).topics


def test_a_consumer_does_not_create_the_topic_that_it_names(broker: EmbeddedBroker, name: str) -> None:
    with consumer(broker.bootstrap_servers, group_id=name) as reader:
        reader.subscribe([name])
        message = wait_for("an error", lambda: reader.poll(0.1))
        assert message.error().code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        assert name not in reader.list_topics(timeout=DEADLINE_S).topics


def test_a_topic_that_was_deleted_and_made_again_is_empty(broker: EmbeddedBroker, name: str) -> None:
    client = producer(broker.bootstrap_servers)
    create_topic(broker.bootstrap_servers, name)
    send(client, name, b"old")
    manager = admin(broker.bootstrap_servers)
    manager.delete_topics([name])[name].result(DEADLINE_S)
    assert name not in manager.list_topics(timeout=DEADLINE_S).topics

    create_topic(broker.bootstrap_servers, name)
    send(producer(broker.bootstrap_servers), name, b"new")
    assert [message.value() for message in read_all(broker.bootstrap_servers, name)] == [b"new"]


def test_a_reader_of_a_deleted_topic_is_told(broker: EmbeddedBroker, name: str) -> None:
    create_topic(broker.bootstrap_servers, name)
    send(producer(broker.bootstrap_servers), name, b"v")
    impatient = {"topic_metadata_refresh_interval_ms": 100, "topic_metadata_propagation_max_ms": 100}
    with consumer(broker.bootstrap_servers, group_id=name, **impatient) as reader:
        reader.subscribe([name])
        assert wait_for("the record", lambda: reader.poll(0.1)).value() == b"v"
        manager = admin(broker.bootstrap_servers)
        manager.delete_topics([name])[name].result(DEADLINE_S)
        message = wait_for("an error", lambda: reader.poll(0.1))
        assert message.error().code() == KafkaError.UNKNOWN_TOPIC_OR_PART


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_a_subscription_by_pattern_finds_a_topic_that_comes_later(
    broker: EmbeddedBroker, name: str, group_protocol: str
) -> None:
    settings = {"group_id": name, "group_protocol": group_protocol, "topic_metadata_refresh_interval_ms": 100}
    client = producer(broker.bootstrap_servers)
    create_topic(broker.bootstrap_servers, f"{name}-early")
    send(client, f"{name}-early", b"early")
    with consumer(broker.bootstrap_servers, **settings) as reader:
        reader.subscribe([f"^{name}-.*"])
        assert [message.value() for message in read(reader, 1)] == [b"early"]
        reader.commit(asynchronous=False)
        create_topic(broker.bootstrap_servers, f"{name}-late")
        send(client, f"{name}-late", b"late")
        assert [message.value() for message in read(reader, 1)] == [b"late"]
