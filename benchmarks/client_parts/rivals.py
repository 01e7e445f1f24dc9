"""What the client is compared with: confluent-kafka and kafka-python, each doing the same work as ours.

Every function returns the number of records (or transactions) and the seconds that they took.
"""

import time
from functools import partial

import pyarrow as pa
from client_parts.rounds import Work
from confluent_kafka import Consumer, Producer
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as KafkaPythonTopicPartition
from support.confluent import BULK_CONSUMER, BULK_PRODUCER, consume_all


def confluent_send(servers: str, topic: str, table: pa.Table, *, is_told: bool = False) -> Work:
    """Told or not: `flush` waits until nothing is on its way, and does not say what became of it."""
    failed: list[object] = []

    def on_delivery(problem: object, _message: object) -> None:
        if problem is not None:
            failed.append(problem)

    queue = {"queue.buffering.max.messages": 1_000_000}
    producer = Producer({"bootstrap.servers": servers, **queue, **BULK_PRODUCER})
    keys, values = table.column("key").to_pylist(), table.column("value").to_pylist()
    producer.list_topics(topic, 60)
    produce = partial(producer.produce, on_delivery=on_delivery) if is_told else producer.produce
    began = time.perf_counter()
    for key, value in zip(keys, values, strict=True):
        while True:
            try:
                produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.01)
    assert producer.flush(120) == 0
    assert not failed
    return Work(len(keys), time.perf_counter() - began)


def confluent_read(servers: str, topic: str, count: int) -> Work:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "benchmark", **BULK_CONSUMER})
    began = time.perf_counter()
    consume_all(consumer, topic, 1, count)
    took_s = time.perf_counter() - began
    consumer.close()
    return Work(count, took_s)


def confluent_transact(servers: str, topic: str, seconds: float) -> Work:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "rival", "linger.ms": 0, "log_level": 0})
    producer.init_transactions(60)
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        producer.begin_transaction()
        producer.produce(topic, b"v" * 100)
        producer.commit_transaction(60)
        count += 1
    return Work(count, time.perf_counter() - began)


def kafka_python_send(servers: str, topic: str, count: int) -> Work:
    producer = KafkaProducer(bootstrap_servers=servers, enable_idempotence=True, linger_ms=5)
    producer.partitions_for(topic)
    began = time.perf_counter()
    for _ in range(count):
        producer.send(topic, b"v" * 100)
    producer.flush(120)
    took_s = time.perf_counter() - began
    producer.close()
    return Work(count, took_s)


def kafka_python_read(servers: str, topic: str, count: int) -> Work:
    consumer = KafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False, auto_offset_reset="earliest")
    consumer.assign([KafkaPythonTopicPartition(topic, 0)])
    consumer.seek_to_beginning()
    seen, began = 0, time.perf_counter()
    for _ in consumer:
        seen += 1
        if seen == count:
            break
    took_s = time.perf_counter() - began
    consumer.close()
    return Work(seen, took_s)
