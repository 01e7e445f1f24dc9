"""What both examples share: where the broker is, and the loop that moves Arrow tables in transactions."""

import argparse
import contextlib
from collections.abc import Callable, Iterator

import pyarrow as pa

from fencepost.client import Admin, Consumer, Producer, read_arrow
from fencepost.server.embedded import EmbeddedBroker

SENSORS = ("attic", "cellar", "garden")
READING_COUNT = 30_000

Average = Callable[[pa.RecordBatch], pa.Table]


@contextlib.contextmanager
def broker(description: str | None) -> Iterator[str]:
    """The address that was given, or a broker for the time of the block."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bootstrap-servers")
    given = parser.parse_args().bootstrap_servers
    if given:
        yield given
    else:
        with EmbeddedBroker() as embedded:
            yield embedded.bootstrap_servers


def send(bootstrap_servers: str, readings: pa.Table) -> None:
    with Producer(bootstrap_servers, compression_type="zstd") as producer:
        print("sent", producer.send_arrow("readings", readings).result(timeout=30), "readings")


def run(bootstrap_servers: str, average: Average) -> int:
    """Average what comes; each batch and what became of it are one transaction. Returns how many rows were read."""
    row_count = 0
    with (
        Producer(bootstrap_servers, transactional_id="averages") as producer,
        Consumer(bootstrap_servers, ["readings"], group_id="averages", auto_offset_reset="earliest") as consumer,
    ):
        producer.init_transactions()
        while row_count < READING_COUNT:
            readings = consumer.poll_arrow(timeout=1.0)
            if not readings.num_rows:
                continue
            with producer.transaction(consumer) as txn:
                txn.send_arrow("averages", average(readings))
            row_count += readings.num_rows
    return row_count


def averages(bootstrap_servers: str) -> pa.Table:
    # Apache Kafka answers a commit a moment before its records can be seen.
    with Admin(bootstrap_servers) as admin:
        admin.await_transaction_end("averages")
    return read_arrow(bootstrap_servers, "averages")
