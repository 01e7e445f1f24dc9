"""The broker is killed with SIGKILL fifty times under load; then the accounts of its clients are audited."""

import multiprocessing
import time
from collections import Counter
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.behaviour_client.reading import wait_for_markers
from tests.kill.killed_broker import KilledBroker
from tests.kill.load import (
    PLAIN_TOPIC,
    TRANSACTION_TOPICS,
    Load,
    Outcome,
    Report,
    aiokafka_transactions,
    confluent_transactions,
    idempotent_writer,
    kafka_python_transactions,
    offset_committer,
    run_load,
)

KILLS = 50
JOIN_TIMEOUT_S = 300.0
DRAIN_TIMEOUT_S = 180.0
SETTINGS = {
    "log.segment.bytes": str(1 << 20),
    "group.initial.rebalance.delay.ms": "0",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}


LOADS: dict[str, Load] = {
    "idempotent": idempotent_writer,
    "readers": offset_committer,
    "confluent": confluent_transactions,
    "kafka-python": kafka_python_transactions,
    "aiokafka": aiokafka_transactions,
}
END_TIMEOUT_S = 180.0
MAY_HANG = {"kafka-python": 10.0}
"""Its commit has no time limit and may wait for ever when its broker dies; what it was told until then counts."""
TRANSACTIONAL = ("confluent", "kafka-python", "aiokafka")


def test_fifty_kills_lose_nothing_repeat_nothing_and_tear_nothing(tmp_path: Path) -> None:
    with KilledBroker(tmp_path / "data", seed=20261115, settings=SETTINGS) as broker:
        create_topics(broker.bootstrap_servers)
        reports = run_under_load(broker)
        assert broker.kill_count == KILLS
        audit(broker.bootstrap_servers, reports)


def run_under_load(broker: KilledBroker) -> dict[str, Report]:
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    clients = {}
    for name, load in LOADS.items():
        receiver, sender = context.Pipe(duplex=False)
        arguments = (load, broker.bootstrap_servers, name, stop, MAY_HANG.get(name, END_TIMEOUT_S), sender)
        process = context.Process(target=run_load, args=arguments, name=name, daemon=True)
        process.start()
        clients[name] = (process, receiver)
    try:
        broker.kill_and_restart(KILLS)
        time.sleep(1)
    finally:
        stop.set()
    reports = {}
    for name, (process, receiver) in clients.items():
        assert receiver.poll(JOIN_TIMEOUT_S), f"{name} does not end"
        reports[name] = receiver.recv()
        process.join(JOIN_TIMEOUT_S)
        assert not reports[name].crash, f"{name}: {reports[name].crash}"
        assert not reports[name].is_hung or name in MAY_HANG, f"{name} hangs"
    return reports


def create_topics(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [NewTopic(PLAIN_TOPIC, 1), *(NewTopic(topic, 2) for topic in TRANSACTION_TOPICS)]
    for created in admin.create_topics(topics).values():
        created.result(30)


def audit(servers: str, reports: dict[str, Report]) -> None:
    for topic in TRANSACTION_TOPICS:
        # A client that hangs leaves a transaction open, and what others commit after it is hidden until it times out.
        wait_for_markers(servers, topic)
    plain = read_values(servers, PLAIN_TOPIC, 1, isolation_level="read_committed")[0]
    audit_plain(plain, reports["idempotent"].acknowledged)
    audit_offsets(servers, reports["readers"])
    committed = {
        topic: read_values(servers, topic, 2, isolation_level="read_committed") for topic in TRANSACTION_TOPICS
    }
    uncommitted = {
        topic: read_values(servers, topic, 2, isolation_level="read_uncommitted") for topic in TRANSACTION_TOPICS
    }
    audit_transactions(committed, reports)
    for topic in TRANSACTION_TOPICS:
        for partition in (0, 1):
            assert is_subsequence(committed[topic][partition], uncommitted[topic][partition])


def audit_plain(values: list[bytes], acknowledged: list[int]) -> None:
    numbers = [int(value.split(b":")[1]) for value in values]
    assert len(acknowledged) > KILLS, "there was hardly any load"
    assert len(numbers) == len(set(numbers)), (
        f"repeated: {[n for n, count in Counter(numbers).items() if count > 1][:10]}"
    )
    assert numbers == sorted(numbers), "out of order"
    lost = set(acknowledged) - set(numbers)
    assert not lost, f"acknowledged and lost: {sorted(lost)[:10]}"


def audit_offsets(servers: str, report: Report) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "readers", "log_level": 0})
    stored = consumer.committed([TopicPartition(PLAIN_TOPIC, 0)], timeout=30)[0].offset
    consumer.close()
    assert report.committed_offset > KILLS, "the group hardly committed"
    assert report.committed_offset <= stored <= report.asked_offset


def audit_transactions(committed: dict[str, list[list[bytes]]], reports: dict[str, Report]) -> None:
    seen = {
        topic: Counter(value for values in partitions for value in values) for topic, partitions in committed.items()
    }
    for topic, counts in seen.items():
        assert max(counts.values()) == 1, f"{topic} repeats {counts.most_common(3)}"
    for writer in TRANSACTIONAL:
        outcomes = reports[writer].transactions
        told = Counter(outcomes.values())
        assert told[Outcome.COMMITTED] >= 10, f"{writer} hardly committed: {told}, {reports[writer].problems[-3:]}"
        for number, outcome in outcomes.items():
            value = f"{writer}:{number}".encode()
            found = [topic for topic in TRANSACTION_TOPICS if seen[topic][value]]
            assert len(found) in (0, len(TRANSACTION_TOPICS)), f"{value!r} ({outcome.value}) is torn: only in {found}"
            if outcome is Outcome.COMMITTED:
                assert found, f"{value!r} was committed and is lost"
            elif outcome is Outcome.ABORTED:
                assert not found, f"{value!r} was aborted and can be read"


def read_values(servers: str, topic: str, partition_count: int, *, isolation_level: str) -> list[list[bytes]]:
    """All values of each partition, to the end that this isolation level sees once no transaction is open."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "audit",
            "isolation.level": isolation_level,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    partitions = [TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(partition_count)]
    consumer.assign(partitions)
    values: list[list[bytes]] = [[] for _ in partitions]
    ended: set[int] = set()
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    while len(ended) < partition_count:
        assert time.monotonic() < deadline, f"{topic} could not be read to its end"
        for message in consumer.consume(1000, timeout=0.5):
            if message.error() is not None:
                ended.add(message.partition())
            else:
                values[message.partition()].append(message.value())
    consumer.close()
    return values


def is_subsequence(part: list[bytes], whole: list[bytes]) -> bool:
    remaining = iter(whole)
    return all(value in remaining for value in part)
