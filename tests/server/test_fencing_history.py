"""Who fenced whom can be asked for: causes are record headers of `__transaction_state`, which any client can read."""

import json
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from fencepost.java_hash import partition_for
from fencepost.server.embedded import EmbeddedBroker

CAUSE_HEADER = "fencepost.cause"


def test_the_history_of_an_id_can_be_read_from_the_transaction_log(fencepost_broker: EmbeddedBroker) -> None:
    for client_id in ("first", "second"):
        producer = Producer(
            {
                "bootstrap.servers": fencepost_broker.bootstrap_servers,
                "transactional.id": "shop-0",
                "client.id": client_id,
                "log_level": 0,
            }
        )
        producer.init_transactions(30)
    causes = read_causes(fencepost_broker, "shop-0", count=2)
    assert [(request, client_id) for request, client_id, _ in causes] == [
        ("InitProducerId", "first"),
        ("InitProducerId", "second"),
    ]


def read_causes(broker: EmbeddedBroker, transactional_id: str, *, count: int) -> list[list[str]]:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "reader", "log_level": 0})
    partition = partition_for(transactional_id, 50)
    consumer.assign([TopicPartition("__transaction_state", partition, OFFSET_BEGINNING)])
    causes: list[list[str]] = []
    deadline = time.monotonic() + 30
    while len(causes) < count and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            causes += [json.loads(value) for name, value in message.headers() or () if name == CAUSE_HEADER]
    consumer.close()
    return causes
