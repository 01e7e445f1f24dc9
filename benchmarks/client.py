"""The client beside confluent-kafka and kafka-python, on our broker and on Apache Kafka, in one run of a few minutes.

Arrow: a table of records with 10 B keys goes out with `send_arrow` and comes back with `read_arrow` and
`poll_arrow`; the rival is confluent-kafka's `produce` until flushed, with and without a callback that learns whether a
record was delivered (`send_arrow` does), and `consume(10000)`. Beside `send_arrow` stands what the broker takes of
batches that were encoded beforehand (`client_parts/limit.py`). Single records: `send` and
iteration; the rival is kafka-python. Transactions of one record: the rival is confluent-kafka. Rivals take turns
(`client_parts/rounds.py`). Needs `make kafka` for the Kafka half; `--broker fencepost` leaves it out.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pyarrow as pa
from client_parts import rivals
from client_parts.limit import encoded_beforehand, send_encoded
from client_parts.rounds import Measured, Work, measure
from support.brokers import BROKER_OPTION, Broker, started_brokers
from support.confluent import create_topic
from support.figures import Figure, run_benchmark
from support.scratch import DEFAULT_FOLDER, scratch_folder

from fencepost.client import Consumer, Producer, TopicPartition, read_arrow
from fencepost.records.columnar import warm_up

ARROW_COUNTS = {100: 1_000_000, 1024: 200_000}
RECORD_COUNT = 40_000
TRANSACTION_SECONDS = 2.0
WARM_UP_SENDS = 5
"""Before records are sent for the clock: a broker in Java compiles what it does often."""


def parts(arguments: argparse.Namespace, stack: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
    scale = 0.02 if arguments.quick else 1.0
    warm_up()
    folder = stack.enter_context(scratch_folder(DEFAULT_FOLDER))
    for broker in started_brokers(arguments.broker, folder, stack):
        for value_bytes, count in ARROW_COUNTS.items():
            goal = 5.0 if value_bytes == 100 else (1.5 if broker.name == "fencepost" else None)
            found = arrow(broker, int(count * scale), value_bytes, goal=goal)
            yield f"{broker.name}: Arrow, values of {value_bytes} B", found
        found = single_records(broker, max(500, int(RECORD_COUNT * scale)))
        yield f"{broker.name}: single records of 100 B", found
        found = transactions(broker, seconds=max(0.5, TRANSACTION_SECONDS * scale))
        yield f"{broker.name}: transactions of one record", found
        broker.close()


def compare(
    broker: Broker,
    ours: dict[str, Callable[[], Work]],
    rivals_found: dict[str, Callable[[], Work]],
    *,
    goal: float | None,
    unit: str = "records/s",
) -> list[Figure]:
    """Figures of each of ours and of the rivals, and of each of ours over each rival; the goal is over the first."""
    everybody = ours | rivals_found
    measured = dict(zip(everybody, measure(broker.process_id, list(everybody.values())), strict=True))
    figures = [_rate(name, measured[name], unit) for name in ours]
    for number, rival in enumerate(rivals_found):
        other = measured[rival]
        figures.append(_rate(rival, other, unit))
        for name in ours:
            found = measured[name]
            held = goal if number == 0 else None
            figures.append(Figure(f"  {name} over it", found.rate / other.rate, "x", at_least=held))
            figures.append(Figure("    by CPU time of client and broker", other.cpu_us / found.cpu_us, "x"))
    return figures


def _rate(name: str, found: Measured, unit: str) -> Figure:
    return Figure(name, found.rate, unit, note=f"{found.cpu_us:,.2f} us of CPU for each, client and broker together")


def arrow(broker: Broker, count: int, value_bytes: int, *, goal: float | None) -> list[Figure]:
    topic, servers = f"arrow-{value_bytes}", broker.bootstrap_servers
    create_topic(broker.bootstrap_servers, topic)
    keys = pa.array([b"%010d" % number for number in range(count)], type=pa.binary())
    table = pa.table({"key": keys, "value": pa.array([b"v" * value_bytes] * count, type=pa.binary())})
    encoded = encoded_beforehand(table)
    create_topic(broker.bootstrap_servers, f"warm-up-{value_bytes}")
    for _ in range(WARM_UP_SENDS):
        send_encoded(servers, f"warm-up-{value_bytes}", encoded)
    sending = compare(
        broker,
        {"send_arrow": partial(send_table, servers, topic, table)},
        {
            "confluent-kafka produce": partial(rivals.confluent_send, servers, topic, table),
            "confluent-kafka produce, told of every delivery": partial(
                rivals.confluent_send, servers, topic, table, is_told=True
            ),
            "batches encoded beforehand": partial(send_encoded, servers, topic, encoded),
        },
        goal=goal,
    )
    # Every rival sent the table once at least.
    reading = compare(
        broker,
        {
            "read_arrow": partial(read_table, servers, topic, 2 * count),
            "poll_arrow": partial(poll_tables, servers, topic, 2 * count),
        },
        {"confluent-kafka consume": partial(rivals.confluent_read, servers, topic, 2 * count)},
        goal=goal,
    )
    return sending + reading


def send_table(servers: str, topic: str, table: pa.Table) -> Work:
    with Producer(servers) as producer:
        producer.partitions_for(topic)
        began = time.perf_counter()
        producer.send_arrow(topic, table).result(120)
        return Work(len(table), time.perf_counter() - began)


def read_table(servers: str, topic: str, count: int) -> Work:
    began = time.perf_counter()
    table = read_arrow(servers, topic, end_offsets={0: count})
    assert table.num_rows == count
    return Work(count, time.perf_counter() - began)


def poll_tables(servers: str, topic: str, count: int) -> Work:
    with Consumer(servers) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek_to_beginning()
        seen, began = 0, time.perf_counter()
        while seen < count:
            batch = consumer.poll_arrow(timeout=30.0)
            assert batch.num_rows, f"{seen} of {count} records came"
            seen += batch.num_rows
        return Work(seen, time.perf_counter() - began)


def single_records(broker: Broker, count: int) -> list[Figure]:
    topic, servers = "single", broker.bootstrap_servers
    create_topic(broker.bootstrap_servers, topic)
    sending = compare(
        broker,
        {"send": partial(send_records, servers, topic, count)},
        {"kafka-python send": partial(rivals.kafka_python_send, servers, topic, count)},
        goal=2.0,
    )
    reading = compare(
        broker,
        {"iteration": partial(iterate, servers, topic, 2 * count)},
        {"kafka-python iteration": partial(rivals.kafka_python_read, servers, topic, 2 * count)},
        goal=2.0,
    )
    return sending + reading


def send_records(servers: str, topic: str, count: int) -> Work:
    with Producer(servers, linger_ms=5) as producer:
        producer.partitions_for(topic)
        began = time.perf_counter()
        for _ in range(count):
            producer.send(topic, value=b"v" * 100)
        producer.flush(120)
        return Work(count, time.perf_counter() - began)


def iterate(servers: str, topic: str, count: int) -> Work:
    with Consumer(servers) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek_to_beginning()
        seen, began = 0, time.perf_counter()
        for _ in consumer:
            seen += 1
            if seen == count:
                break
        return Work(seen, time.perf_counter() - began)


def transactions(broker: Broker, *, seconds: float) -> list[Figure]:
    topic, servers = "transactions", broker.bootstrap_servers
    create_topic(broker.bootstrap_servers, topic)
    return compare(
        broker,
        {"transactions": partial(transact, servers, topic, seconds)},
        {"confluent-kafka transactions": partial(rivals.confluent_transact, servers, topic, seconds)},
        unit="transactions/s",
        goal=1.0,
    )


def transact(servers: str, topic: str, seconds: float) -> Work:
    with Producer(servers, transactional_id="ours") as producer:
        producer.init_transactions()
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            with producer.transaction() as transaction:
                transaction.send(topic, value=b"v" * 100)
            count += 1
        return Work(count, time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(run_benchmark(__doc__, parts, BROKER_OPTION))
