"""What benchmarks do with confluent-kafka, at its best."""

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

BULK_PRODUCER = {"enable.idempotence": True, "linger.ms": 5, "batch.num.messages": 10_000, "log_level": 0}
BULK_CONSUMER = {
    "queued.min.messages": 1_000_000,
    "queued.max.messages.kbytes": 1_000_000,
    # By default it pauses for a second whenever its queue is full.
    "fetch.queue.backoff.ms": 10,
    "enable.auto.commit": False,
    "log_level": 0,
}


def create_topic(servers: str, topic: str, partition_count: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    for created in admin.create_topics([NewTopic(topic, partition_count, 1)]).values():
        created.result(60)


def consume_all(consumer: Consumer, topic: str, partition_count: int, count: int) -> None:
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(partition_count)])
    seen = 0
    while seen < count:
        messages = consumer.consume(min(10_000, count - seen), timeout=30)
        assert messages, f"{seen} of {count} records came"
        seen += len(messages)
