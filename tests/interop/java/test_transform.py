"""Consume, transform, produce with two Java instances; one is killed inside a transaction. The output is f(input)."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.java.java_program import JavaClient
from tests.interop.java.topics import create_topics

pytestmark = pytest.mark.kafka

PARTITIONS = 4
COUNT = 800
CLASSIC = ["session.timeout.ms", "2000", "heartbeat.interval.ms", "300"]
KIP_848 = ["group.protocol", "consumer"]


def read_committed(broker: EmbeddedBroker, topic: str, count: int) -> list[str]:
    """At least so many records, and whatever follows them at once."""
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "reader", "isolation.level": "read_committed"}
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    values: list[str] = []
    quiet = 0
    while quiet < (3 if len(values) >= count else 60):
        message = consumer.poll(0.5)
        quiet += message is None
        if message is not None and message.error() is None:
            values.append((message.value() or b"").decode())
    consumer.close()
    return values


@pytest.mark.parametrize(
    ("client", "settings"),
    [
        pytest.param("java_3", CLASSIC, id="3.9-classic"),
        pytest.param("java_4", CLASSIC, id="4.3-classic"),
        pytest.param("java_4", KIP_848, id="4.3-kip-848"),
    ],
)
def test_a_killed_instance_leaves_nothing_half_done(
    broker: EmbeddedBroker, request: pytest.FixtureRequest, client: str, settings: list[str]
) -> None:
    java: JavaClient = request.getfixturevalue(client)
    servers = broker.bootstrap_servers
    create_topics(broker, {"input": PARTITIONS, "output": PARTITIONS})
    arguments = [servers, "transform", "input", "output"]
    with (
        java.start("Transform", *arguments, "survivor", str(COUNT * 10), *settings) as survivor,
        java.start("Transform", *arguments, "victim", "40", *settings) as victim,
    ):
        for instance in (survivor, victim):
            instance.wait_for(lambda line: line.startswith("joined ") and not line.endswith(" 0"), "share")
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        for number in range(COUNT):
            producer.produce("input", value=str(number), partition=number % PARTITIONS)
        producer.flush(20)
        victim.wait_for(lambda line: line == "stalled victim", "stall")
        victim.kill()
        found = read_committed(broker, "output", COUNT)
        assert sorted(found) == sorted(f"f({number})" for number in range(COUNT)), survivor.gather()[-20:]
