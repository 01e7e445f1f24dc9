from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from fencepost.server.embedded import EmbeddedBroker


def create_topics(broker: EmbeddedBroker, partitions: dict[str, int]) -> None:
    """Topics by name with their partitions."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.create_topics([NewTopic(name, count, 1) for name, count in partitions.items()]).values():
        future.result(10)
