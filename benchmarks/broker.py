"""The broker beside Apache Kafka 4.3.1 with its defaults, with the same clients in one run; ours is synced, Kafka is
not.

Start, memory, bulk produce and consume (confluent-kafka, idempotent, acks=all), latency of single records, restart
after SIGKILL; and alone: 1,000 partitions and 500 connections held. Needs `make kafka`.
"""

import argparse
import os
import socket
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import Consumer, Producer
from support.brokers import Broker, Fencepost, Kafka, rss_megabytes
from support.confluent import BULK_CONSUMER, BULK_PRODUCER, consume_all, create_topic
from support.figures import Figure, run_benchmark
from support.scratch import DEFAULT_FOLDER, scratch_folder

VALUE_BYTES = (100, 1024)
PARTITION_COUNTS = (1, 12)
BULK_BYTES = 200_000_000
RESTART_BYTES = 2_000_000_000
LATENCY_COUNT = 2000
ROUNDS = 2


def parts(arguments: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
    scale = 0.02 if arguments.quick else 1.0
    folder = stack.enter_context(scratch_folder(DEFAULT_FOLDER))
    ours, kafka = Fencepost(folder / "data"), Kafka()
    for broker in (ours, kafka):
        stack.callback(broker.close)
    yield "start and memory", start_and_memory(ours, kafka)
    yield "bulk produce and consume", bulk(ours, kafka, scale=scale)
    yield "latency of one record at a time, acks=all", latency(ours, kafka, folder / "bare", scale=scale)
    yield "memory after the load", memory_after_load(ours, kafka)
    yield "restart after SIGKILL, to the first fetch", restart(ours, kafka, scale=scale)
    kafka.close()
    yield "alone: 1,000 partitions and 500 connections", held(ours)


def start_and_memory(ours: Broker, kafka: Broker) -> list[Figure]:
    to_first_record = {}
    for broker in (ours, kafka):
        began = time.perf_counter()
        broker.start()
        listening_s = time.perf_counter() - began
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0, "log_level": 0})
        producer.produce("first", b"record")
        producer.flush(60)
        to_first_record[broker.name] = time.perf_counter() - began
        if broker is ours:
            ours_listening_s = listening_s
    time.sleep(2)
    return [
        Figure("fencepost: process start to listening", ours_listening_s, "s", at_most=0.5),
        *(
            Figure(f"{name}: start to the first acknowledged record", value, "s")
            for name, value in to_first_record.items()
        ),
        Figure("fencepost: idle RSS", rss_megabytes(ours), "MB"),
        Figure("kafka: idle RSS", rss_megabytes(kafka), "MB"),
        Figure("idle RSS, ours over Kafka's", rss_megabytes(ours) / rss_megabytes(kafka), "x", at_most=0.25),
    ]


def bulk(ours: Broker, kafka: Broker, *, scale: float) -> list[Figure]:
    figures = []
    for value_bytes in VALUE_BYTES:
        for partition_count in PARTITION_COUNTS:
            topic = f"bulk-{value_bytes}-{partition_count}"
            count = int(BULK_BYTES * scale / value_bytes)
            produced: dict[str, float] = {}
            consumed: dict[str, float] = {}
            for broker in (ours, kafka):
                create_topic(broker.bootstrap_servers, topic, partition_count)
            for _ in range(ROUNDS):
                for broker in (ours, kafka):
                    rate = produce_rate(broker, topic, count, value_bytes)
                    produced[broker.name] = max(produced.get(broker.name, 0.0), rate)
            for _ in range(ROUNDS):
                for broker in (ours, kafka):
                    rate = consume_rate(broker, topic, partition_count, ROUNDS * count)
                    consumed[broker.name] = max(consumed.get(broker.name, 0.0), rate)
            case = f"{value_bytes} B, {partition_count} partition(s)"
            for what, rates in (("produce", produced), ("consume", consumed)):
                figures += [
                    Figure(f"{what} {case}: {name}", rate * value_bytes / 1e6, "MB/s") for name, rate in rates.items()
                ]
                ratio = rates[ours.name] / rates[kafka.name]
                figures.append(Figure(f"{what} {case}: ours over Kafka's", ratio, "x", at_least=1.0))
    return figures


def produce_rate(broker: Broker, topic: str, count: int, value_bytes: int) -> float:
    """Records per second until the last one is acknowledged."""
    queue = {"queue.buffering.max.messages": 500_000, "queue.buffering.max.kbytes": 262_144}
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **queue, **BULK_PRODUCER})
    value = b"v" * value_bytes
    began = time.perf_counter()
    for _ in range(count):
        while True:
            try:
                producer.produce(topic, value)
                break
            except BufferError:
                producer.poll(0.01)
    remaining = producer.flush(120)
    assert remaining == 0, f"{remaining} records of {broker.name} were not acknowledged"
    return count / (time.perf_counter() - began)


def consume_rate(broker: Broker, topic: str, partition_count: int, count: int) -> float:
    reader = {"group.id": "benchmark", "isolation.level": "read_committed"}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, **reader, **BULK_CONSUMER})
    began = time.perf_counter()
    consume_all(consumer, topic, partition_count, count)
    rate = count / (time.perf_counter() - began)
    consumer.close()
    return rate


def latency(ours: Broker, kafka: Broker, bare_file: Path, *, scale: float) -> list[Figure]:
    count = max(100, int(LATENCY_COUNT * scale))
    quantiles = {"a bare file, written and synced": statistics.quantiles(sync_times_ms(bare_file, count), n=100)}
    for broker in (ours, kafka):
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0, "log_level": 0})
        times_ms = []
        for number in range(count + 50):
            began = time.perf_counter()
            producer.produce("latency", b"v" * 100)
            producer.flush(30)
            if number >= 50:
                times_ms.append((time.perf_counter() - began) * 1000)
        quantiles[broker.name] = statistics.quantiles(times_ms, n=100)
    figures = []
    for name, values in quantiles.items():
        figures += [Figure(f"{name}: p50", values[49], "ms"), Figure(f"{name}: p99", values[98], "ms")]
    ratio = quantiles[ours.name][98] / quantiles[kafka.name][98]
    return [*figures, Figure("p99, ours over Kafka's", ratio, "x", at_most=0.5)]


def sync_times_ms(path: Path, count: int) -> list[float]:
    """What the disk alone takes for a record of this size: the least that an acknowledgement of ours can wait for."""
    times_ms = []
    with path.open("wb", buffering=0) as file:
        os.posix_fallocate(file.fileno(), 0, 200 * count)
        for _ in range(count):
            began = time.perf_counter()
            file.write(b"v" * 200)
            os.fdatasync(file.fileno())
            times_ms.append((time.perf_counter() - began) * 1000)
    return times_ms


def memory_after_load(ours: Broker, kafka: Broker) -> list[Figure]:
    return [Figure(f"{broker.name}: RSS after the load", rss_megabytes(broker), "MB") for broker in (ours, kafka)]


def restart(ours: Broker, kafka: Broker, *, scale: float) -> list[Figure]:
    to_first_fetch = {}
    count = int(RESTART_BYTES * scale / 1024)
    for broker in (ours, kafka):
        create_topic(broker.bootstrap_servers, "restart", 4)
        produce_rate(broker, "restart", count, 1024)
        broker.kill()
        began = time.perf_counter()
        broker.start()
        consume_rate(broker, "restart", 4, 1)
        to_first_fetch[broker.name] = time.perf_counter() - began
    ratio = to_first_fetch[ours.name] / to_first_fetch[kafka.name]
    figures = [Figure(f"{name}: to the first fetch", value, "s") for name, value in to_first_fetch.items()]
    return [*figures, Figure("restart, ours over Kafka's", ratio, "x", at_most=0.3)]


def held(ours: Broker) -> list[Figure]:
    create_topic(ours.bootstrap_servers, "wide", 1000)
    host, port = ours.bootstrap_servers.split(":")
    connections = [socket.create_connection((host, int(port)), timeout=10) for _ in range(500)]
    rate = produce_rate(ours, "wide", 100_000, 100)
    figures = [
        Figure("produce to 1,000 partitions beside 500 connections", rate, "records/s"),
        Figure("RSS with both held", rss_megabytes(ours), "MB"),
    ]
    for connection in connections:
        connection.close()
    return figures


if __name__ == "__main__":
    sys.exit(run_benchmark(__doc__, parts))
