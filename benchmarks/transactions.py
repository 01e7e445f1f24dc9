"""Transactions per second and commit latency, ours (synced) beside Apache Kafka flushing every message and with its
defaults.

Producers are confluent-kafka's, one thread each, all in this process, the same for every broker. A transaction
writes its records to one partition and commits; latency is that of the commit call alone. Every broker is warmed up
first (a JVM compiles as it goes), then they take turns, forth and back, and the rounds of each are taken together.
Ratios are taken inside one run. Needs `make kafka`.
"""

import argparse
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from confluent_kafka import Producer
from support.brokers import Broker, Fencepost, Kafka, cpu_seconds
from support.figures import Figure, run_benchmark
from support.scratch import DEFAULT_FOLDER, scratch_folder

RECORD_COUNTS = (1, 10, 100, 1000)
PRODUCER_COUNTS = (1, 16)
VALUE = b"v" * 100
LARGE_VALUE = b"v" * 1024
COMMIT_INTERVAL_S = 0.1
ROUNDS = 2


@dataclass
class Result:
    transactions: int = 0
    seconds: float = 0.0
    latencies_ms: list[float] = field(default_factory=list)
    broker_cpu_seconds: float = 0.0
    client_cpu_seconds: float = 0.0

    def add(self, other: "Result") -> None:
        self.transactions += other.transactions
        self.seconds += other.seconds
        self.latencies_ms += other.latencies_ms
        self.broker_cpu_seconds += other.broker_cpu_seconds
        self.client_cpu_seconds += other.client_cpu_seconds

    @property
    def broker_cpu_us(self) -> float:
        """Of one transaction."""
        return 1e6 * self.broker_cpu_seconds / self.transactions

    @property
    def client_cpu_us(self) -> float:
        return 1e6 * self.client_cpu_seconds / self.transactions

    @property
    def cores(self) -> float:
        """In use by clients and broker together: where it is near all that there are, only less work helps."""
        return (self.broker_cpu_seconds + self.client_cpu_seconds) / self.seconds

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds

    def percentile(self, percent: int) -> float:
        return statistics.quantiles(self.latencies_ms, n=100)[percent - 1]


def parts(arguments: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
    duration_s = 1.0 if arguments.quick else 5.0
    folder = stack.enter_context(scratch_folder(DEFAULT_FOLDER))
    brokers: list[Broker] = [
        Fencepost(folder / "data"),
        Kafka(settings={"log.flush.interval.messages": "1"}, name="kafka, flushing"),
        Kafka(name="kafka, default"),
    ]
    for broker in brokers:
        stack.callback(broker.close)
        broker.start()
    for broker in brokers:
        run(broker, max(PRODUCER_COUNTS), 1, duration_s=2 * duration_s)
    for producer_count in PRODUCER_COUNTS:
        for record_count in RECORD_COUNTS:
            results = {broker.name: Result() for broker in brokers}
            for number in range(ROUNDS):
                for broker in reversed(brokers) if number % 2 else brokers:
                    found = run(broker, producer_count, record_count, duration_s=duration_s / ROUNDS)
                    results[broker.name].add(found)
            heading = f"{producer_count} producer(s), {record_count} record(s) of 100 B each"
            yield heading, figures_of(results, producer_count, record_count)
    heading = "the price of a commit every 100 ms, records of 1 KB, one producer"
    yield heading, [price_of_commits(broker, duration_s=duration_s) for broker in brokers]


def figures_of(results: dict[str, Result], producer_count: int, record_count: int) -> list[Figure]:
    case = f"{producer_count} x {record_count}"
    figures = []
    for name, result in results.items():
        cores = f"of {os.cpu_count()}"
        figures += [
            Figure(f"{case}: {name}", result.rate, "transactions/s"),
            Figure(f"{case}: {name}, commit p50", result.percentile(50), "ms"),
            Figure(f"{case}: {name}, commit p99", result.percentile(99), "ms"),
            Figure(f"{case}: {name}, CPU of the broker", result.broker_cpu_us, "us per transaction"),
            Figure(f"{case}: {name}, CPU of the clients", result.client_cpu_us, "us per transaction"),
            Figure(f"{case}: {name}, cores in use", result.cores, cores),
        ]
    ours, flushing, default = results.values()
    over_flushing, over_default, p99 = (3.0, 2.0, 0.3) if producer_count > 1 else (1.5, 1.5, 0.3)
    if record_count > 1:
        over_flushing = over_default = p99 = None
    p99_ratio = ours.percentile(99) / default.percentile(99)
    return [
        *figures,
        Figure(f"{case}: rate over kafka flushing", ours.rate / flushing.rate, "x", at_least=over_flushing),
        Figure(f"{case}: rate over kafka default", ours.rate / default.rate, "x", at_least=over_default),
        Figure(f"{case}: p99 over kafka default's", p99_ratio, "x", at_most=p99),
    ]


def run(broker: Broker, producer_count: int, record_count: int, *, duration_s: float) -> Result:
    producers = [new_producer(broker, number) for number in range(producer_count)]
    topic = f"transactions-{producer_count}-{record_count}"
    for producer in producers:
        producer.init_transactions(60)
    for producer in producers:
        transact(producer, topic, record_count)
    results = [Result() for _ in producers]
    cpu_before, client_cpu_before = cpu_seconds(broker), time.process_time()
    stop_at = time.perf_counter() + duration_s
    threads = [
        threading.Thread(target=transact_until, args=(producer, topic, record_count, stop_at, result))
        for producer, result in zip(producers, results, strict=True)
    ]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - began
    return Result(
        transactions=sum(result.transactions for result in results),
        seconds=elapsed,
        latencies_ms=[latency for result in results for latency in result.latencies_ms],
        broker_cpu_seconds=cpu_seconds(broker) - cpu_before,
        client_cpu_seconds=time.process_time() - client_cpu_before,
    )


def new_producer(broker: Broker, number: int) -> Producer:
    return Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": f"bench-{number}",
            "linger.ms": 0,
            "log_level": 0,
        }
    )


def transact(producer: Producer, topic: str, record_count: int) -> float:
    """One transaction; the seconds that its commit took."""
    producer.begin_transaction()
    for _ in range(record_count):
        producer.produce(topic, VALUE)
    began = time.perf_counter()
    producer.commit_transaction(60)
    return time.perf_counter() - began


def transact_until(producer: Producer, topic: str, record_count: int, stop_at: float, result: Result) -> None:
    while time.perf_counter() < stop_at:
        result.latencies_ms.append(transact(producer, topic, record_count) * 1000)
        result.transactions += 1


def price_of_commits(broker: Broker, *, duration_s: float) -> Figure:
    """By how much a commit every 100 ms lowers the rate of one producer, against one without transactions. Interleaved
    rounds, the best of each: the machine is noisy."""
    plain, transactional = 0.0, 0.0
    for _ in range(3):
        plain = max(plain, bulk_rate(broker, duration_s=duration_s, commits=False))
        transactional = max(transactional, bulk_rate(broker, duration_s=duration_s, commits=True))
    at_most = 3.0 if broker.name == "fencepost" else None
    note = f"{plain:,.0f} records/s without, {transactional:,.0f} with"
    return Figure(
        f"commit every 100 ms: {broker.name}",
        100 * (1 - transactional / plain),
        "% of throughput",
        at_most=at_most,
        note=note,
    )


def bulk_rate(broker: Broker, *, duration_s: float, commits: bool) -> float:
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "enable.idempotence": True,
        "linger.ms": 5,
        "queue.buffering.max.messages": 100_000,
        "log_level": 0,
    }
    if commits:
        settings["transactional.id"] = "bulk"
    producer = Producer(settings)
    if commits:
        producer.init_transactions(60)
        producer.begin_transaction()
    count = 0
    began = last_commit = time.perf_counter()
    while (now := time.perf_counter()) - began < duration_s:
        if commits and now - last_commit > COMMIT_INTERVAL_S:
            producer.commit_transaction(60)
            producer.begin_transaction()
            last_commit = time.perf_counter()
        for _ in range(100):
            try:
                producer.produce("bulk", LARGE_VALUE)
                count += 1
            except BufferError:
                producer.poll(0.01)
        producer.poll(0)
    if commits:
        producer.commit_transaction(60)
    else:
        producer.flush(60)
    return count / (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(run_benchmark(__doc__, parts))
