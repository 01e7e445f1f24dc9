"""Three nodes of Apache Kafka, one of them killed at a bad moment: nothing lost, nothing twice, in order.

What is stored is read with confluent-kafka. Every test kills the node that it hurts to lose, and the next one starts
with all three back and in sync.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import confluent_kafka.admin
import pyarrow as pa
import pytest

from fencepost.client import Consumer, ConsumerRecord, Producer, RecordFuture, TableFuture
from fencepost.client.admin.admin import Admin
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.exceptions import AbortableError, RetriableError
from fencepost.client.producer.transaction_manager import State
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.lab.apache_kafka import NODE_COUNT, ApacheCluster
from tests.behaviour_client.consumer_reading import produce
from tests.behaviour_client.reading import values
from tests.peers import require_jars

pytestmark = pytest.mark.kafka
PATIENCE_S = 120
TIMERS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "50",
    "group.consumer.heartbeat.interval.ms": "200",
}
GROUPS: dict[str, dict[str, Any]] = {
    "classic": {"group_protocol": "classic", "heartbeat_interval_ms": 200},
    "kip-848": {"group_protocol": "consumer"},
}


@pytest.fixture(scope="module")
def started() -> Iterator[ApacheCluster]:
    require_jars()
    with ApacheCluster(settings=TIMERS) as cluster:
        yield cluster


@pytest.fixture
def nodes(started: ApacheCluster) -> ApacheCluster:
    started.start()
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": started.bootstrap_servers})

    def is_whole() -> bool:
        metadata = admin.list_topics(timeout=PATIENCE_S)
        partitions = [row for topic in metadata.topics.values() for row in topic.partitions.values()]
        return len(metadata.brokers) == NODE_COUNT and all(len(row.isrs) == NODE_COUNT for row in partitions)

    wait_for("three nodes in sync", is_whole, pause_s=0.2)
    return started


@pytest.fixture
def servers(nodes: ApacheCluster) -> str:
    return nodes.bootstrap_servers


@pytest.fixture
def topic(servers: str, name: str) -> str:
    with Admin(servers) as admin:
        admin.create_topic(name, 3, NODE_COUNT)
    return name


@pytest.fixture
def cluster(servers: str) -> Iterator[Cluster]:
    opened = Cluster(servers, ClientSettings())
    yield opened
    opened.close()


def wait_for(what: str, probe: Callable[[], object], *, pause_s: float = 0.05) -> None:
    """Longer than elsewhere: three virtual machines share what one has in other tests."""
    deadline = time.monotonic() + PATIENCE_S
    while not probe():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s: {what}"
        time.sleep(pause_s)


def leader_of(cluster: Cluster, topic: str, partition: int = 0) -> int:
    return cluster.topic(topic, Deadline(PATIENCE_S)).partitions[partition].leader_id


def coordinator_of(cluster: Cluster, kind: CoordinatorType, key: str) -> int:
    return cluster.coordinator(kind, key, Deadline(PATIENCE_S)).node_id


@pytest.mark.deep
@pytest.mark.parametrize("is_arrow", [False, True], ids=["records", "arrow"])
def test_the_leader_is_killed_under_an_idempotent_producer(
    nodes: ApacheCluster, servers: str, cluster: Cluster, topic: str, is_arrow: bool
) -> None:
    victim = leader_of(cluster, topic)
    with Producer(servers, batch_size=2000, linger_ms=1) as producer:
        futures: list[RecordFuture | TableFuture] = []
        for first in range(0, 6000, 100):
            numbers = range(first, first + 100)
            if is_arrow:
                futures.append(producer.send_arrow(topic, table_of(numbers)))
            else:
                futures += [producer.send(topic, b"%d" % number, partition=number % 3) for number in numbers]
            if first == 2000:
                threading.Thread(target=nodes.kill, args=(victim,)).start()
        producer.flush(PATIENCE_S)
        assert [future.exception(0) for future in futures if future.exception(0) is not None] == []
    stored = [int(value or b"") for value in values(servers, topic)]
    assert stored == [number for partition in range(3) for number in range(partition, 6000, 3)]


def table_of(numbers: range) -> pa.Table:
    return pa.table({"value": [b"%d" % number for number in numbers], "partition": [n % 3 for n in numbers]})


@pytest.mark.deep
@pytest.mark.parametrize("is_arrow", [False, True], ids=["records", "arrow"])
def test_the_leader_is_killed_under_a_reader_of_what_confluent_kafka_wrote(
    nodes: ApacheCluster, servers: str, cluster: Cluster, topic: str, is_arrow: bool
) -> None:
    for partition in range(3):
        written = [b"%d" % number for number in range(partition, 3000, 3)]
        produce(servers, topic, written, partition=partition, batch_num_messages=20, enable_idempotence=True)
    seen: dict[int, list[int]] = {partition: [] for partition in range(3)}
    with Consumer(servers, auto_offset_reset="earliest", max_partition_fetch_bytes=1000) as consumer:
        consumer.assign([(topic, partition) for partition in range(3)])

        def count() -> int:
            if is_arrow:
                for row in consumer.poll_arrow(0.1).to_pylist():
                    seen[row["partition"]].append(int(row["value"]))
            else:
                for record in consumer.poll(0.1, max_records=50):
                    seen[record.partition].append(int(record.value))
            return sum(map(len, seen.values()))

        wait_for("some records", lambda: count() > 300, pause_s=0)
        nodes.kill(leader_of(cluster, topic))
        wait_for("every record", lambda: count() >= 3000, pause_s=0)
    assert seen == {partition: list(range(partition, 3000, 3)) for partition in range(3)}


WHO: dict[str, Callable[[Cluster, str], int]] = {
    "leader": leader_of,
    "transaction coordinator": lambda cluster, name: coordinator_of(cluster, CoordinatorType.TRANSACTION, name),
    "group coordinator": lambda cluster, name: coordinator_of(cluster, CoordinatorType.GROUP, name),
}
MOMENTS = ["after begin", "after records", "after offsets", "during the end"]
CRASHES = [
    pytest.param(
        who, moment, marks=() if (who, moment) == ("transaction coordinator", "after offsets") else pytest.mark.deep
    )
    for who in WHO
    for moment in MOMENTS
]


@pytest.mark.parametrize(("who", "moment"), CRASHES)
def test_a_node_is_killed_in_the_middle_of_a_transaction(
    nodes: ApacheCluster, servers: str, cluster: Cluster, topic: str, who: str, moment: str
) -> None:
    """Of nine transactions the fifth meets the crash; every third is aborted."""
    with Producer(servers, transactional_id=topic, batch_size=300) as producer:
        producer.init_transactions()
        with producer.transaction() as txn:
            txn.send_offsets_to_transaction({(topic, 0): 0}, topic)
        victim = WHO[who](cluster, topic)

        def reach(here: str, number: int) -> None:
            if number == 4 and here == moment:
                nodes.kill(victim)

        expected, committed = [], 0
        for number in range(9):
            run_transaction(producer, topic, number, reach)
            if number % 3 != 2:
                expected.append(number)
                committed = number + 1
        assert producer.state is State.READY
    stored = [tuple(map(int, (value or b"").split(b"."))) for value in values(servers, topic)]
    assert stored == [
        (number, part) for partition in range(3) for number in expected for part in range(partition, 30, 3)
    ]
    with Admin(servers) as admin:
        wait_for("the offsets", lambda: admin.group_offsets(topic)[topic, 0].offset == committed)  # type: ignore[index]


def run_transaction(producer: Producer, topic: str, number: int, reach: Callable[[str, int], None]) -> None:
    producer.begin_transaction()
    reach("after begin", number)
    futures = [producer.send(topic, b"%d.%d" % (number, part), partition=part % 3) for part in range(30)]
    if number == 4:
        futures[0].result(PATIENCE_S)
    reach("after records", number)
    producer.send_offsets_to_transaction({(topic, 0): number + 1}, topic)
    reach("after offsets", number)
    crash = threading.Thread(target=reach, args=("during the end", number))
    crash.start()
    end = producer.abort_transaction if number % 3 == 2 else producer.commit_transaction
    try:
        end()
    except RetriableError:
        end()
    crash.join()


@pytest.mark.deep
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("who", WHO)
def test_records_are_moved_exactly_once_while_nodes_die(
    nodes: ApacheCluster, servers: str, cluster: Cluster, topic: str, name: str, who: str, group: str
) -> None:
    """Read, write and commit in transactions of a few records each; some fail on purpose and are done again."""
    target, count = f"{name}-copy", 600
    with Admin(servers) as admin:
        admin.create_topic(target, 3, NODE_COUNT)
    with Producer(servers) as producer:
        for number in range(count):
            producer.send(topic, b"%d" % number, partition=number % 3)
    with (
        Producer(servers, transactional_id=name) as writer,
        Consumer(servers, [topic], group_id=name, auto_offset_reset="earliest", **GROUPS[group]) as reader,
    ):
        writer.init_transactions()
        turns = 0

        def copy(records: list[ConsumerRecord]) -> None:
            nonlocal turns
            turns += 1
            with writer.transaction(reader) as txn:
                for record in records:
                    txn.send(target, record.value, partition=record.partition)
                if turns == 5:
                    nodes.kill(WHO[who](cluster, name if who != "leader" else target))
                if turns % 4 == 3:
                    raise ZeroDivisionError

        def turn() -> bool:
            records = reader.poll(0.2, max_records=20)
            try:
                if records:
                    copy(records)
            except (ZeroDivisionError, AbortableError):
                return False
            return turns > 5 and sum(reader.lag(timeout=PATIENCE_S).values()) == 0

        wait_for("everything to be copied", turn, pause_s=0)
    stored = [int(value or b"") for value in values(servers, target)]
    assert stored == [number for partition in range(3) for number in range(partition, count, 3)]
