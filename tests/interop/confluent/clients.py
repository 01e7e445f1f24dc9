"""confluent-kafka's clients with the settings that every test wants."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.support import DEADLINE_S, wait_for

QUIET = {"log_level": 0, "socket.timeout.ms": 20_000}


def producer(bootstrap_servers: str, **settings: Any) -> Producer:
    return Producer(configuration(bootstrap_servers, linger_ms=0, **settings))


@contextmanager
def consumer(bootstrap_servers: str, **settings: Any) -> Iterator[Consumer]:
    defaults: dict[str, Any] = {
        "group_id": "unused",
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
        "fetch_wait_max_ms": 100,
    }
    opened = Consumer(configuration(bootstrap_servers, **defaults | settings))
    try:
        yield opened
    finally:
        opened.close()


def admin(bootstrap_servers: str) -> AdminClient:
    return AdminClient(configuration(bootstrap_servers))


def configuration(bootstrap_servers: str, **settings: Any) -> dict[str, Any]:
    """Settings as keyword arguments: `group_id` is `group.id`."""
    dotted = {name.replace("_", "."): value for name, value in settings.items()}
    return {"bootstrap.servers": bootstrap_servers, **QUIET, **dotted}


def create_topic(
    bootstrap_servers: str, topic: str, *, partitions: int = 1, config: dict[str, str] | None = None
) -> None:
    client = admin(bootstrap_servers)  # held until the answer is there: its end is the end of what it asked
    client.create_topics([NewTopic(topic, partitions, 1, config=config or {})])[topic].result(DEADLINE_S)


def send(client: Producer, topic: str, value: bytes | None, **more: Any) -> Message:
    """The delivered message, or the error as an exception."""
    reports: list[tuple[KafkaError | None, Message]] = []
    client.produce(topic, value, on_delivery=lambda error, message: reports.append((error, message)), **more)
    wait_for("a delivery report", lambda: client.flush(0.05) == 0 and reports, pause_s=0)
    error, message = reports[0]
    if error is not None:
        raise DeliveryFailed(error)
    return message


class DeliveryFailed(Exception):  # noqa: N818
    """What the delivery report said."""

    def __init__(self, error: KafkaError) -> None:
        super().__init__(error)
        self.code = error.code()


def read(client: Consumer, count: int) -> list[Message]:
    """The next `count` messages."""
    messages: list[Message] = []

    def probe() -> bool:
        message = client.poll(0.1)
        if message is not None:
            assert message.error() is None, message.error()
            messages.append(message)
        return len(messages) >= count

    wait_for(f"{count} messages", probe, pause_s=0)
    return messages


def read_all(bootstrap_servers: str, topic: str, *, partitions: int = 1, **settings: Any) -> list[Message]:
    """Everything that a reader sees from the start of each partition to where it is told that the end is."""
    messages: list[Message] = []
    with consumer(bootstrap_servers, enable_partition_eof=True, **settings) as client:
        client.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        ended: set[int] = set()

        def probe() -> bool:
            message = client.poll(0.1)
            if message is not None and message.error() is None:
                messages.append(message)
            elif message is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ended.add(message.partition())
            return len(ended) == partitions

        wait_for(f"the end of {topic}", probe, pause_s=0)
    return messages
