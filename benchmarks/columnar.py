"""The columnar codec against librdkafka from Python, in one run: 10 B keys, 100 B values, a timestamp, no headers.

Ours runs on one core: `encode_batches` from an Arrow table to sealed batches, `decode_batches` from the bytes of a
fetch, checksums verified, to Arrow columns. librdkafka gets every core, its mock cluster on loopback as the broker, and
its fastest calls: `produce_batch` of ready-made dictionaries, timed until everything is delivered, and
`consume(10,000)`, timed from the first message to the last without looking at one, checksums not verified. Dictionaries
and Arrow table are made before the clock starts.

Rounds of both alternate and the best of each counts. Our rate is by the time that the one core was ours, so that a busy
machine lowers it less (shared caches still do); ratios are by the wall clock on both sides. Exit code 1 if a goal
is missed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, Producer, TopicPartition
from support.figures import Figure, run_benchmark

from fencepost.records.columnar.decode import decode_batches
from fencepost.records.columnar.encode import encode_batches, murmur2_partitions

KEY_BYTES, VALUE_BYTES = 10, 100
RECORD_BYTES = 120
"""About, in a batch."""
BATCH_RECORDS = (10_000, 500)
ROW_COUNT = 50_000
REPEATS = 5
MEGA = 1e6
RECORDS_PER_SECOND_GOAL = 5.0
RATIO_GOAL = 5.0
RIVALS = {"encode": "librdkafka produce", "decode": "librdkafka consume"}
TOPIC, PARTITION_COUNT = "columnar", 4
MOCK_KEEPS_RECORDS = 40_000
"""The mock cluster keeps 5 MB of a partition; what it dropped cannot be consumed."""
WAIT_S = 30.0

ResultT = TypeVar("ResultT")


class Rates:
    """Millions of records a second, the best round of each kind: by the wall clock, and by the time on the core."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.core: dict[str, float] = {}

    def time(self, name: str, record_count: int, work: Callable[[], ResultT]) -> ResultT:
        start_s, start_core_s = time.perf_counter(), time.thread_time()
        result = work()
        core_s, wall_s = time.thread_time() - start_core_s, time.perf_counter() - start_s
        self.core[name] = max(self.core.get(name, 0.0), record_count / core_s / MEGA)
        self.add(name, record_count, wall_s)
        return result

    def add(self, name: str, record_count: int, wall_s: float) -> None:
        self.wall[name] = max(self.wall.get(name, 0.0), record_count / wall_s / MEGA)


@contextmanager
def one_core() -> Iterator[None]:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def make_table(row_count: int) -> pa.RecordBatch:
    rng = np.random.default_rng(7)

    def column(size_bytes: int) -> pa.Array:
        offsets = np.arange(row_count + 1, dtype=np.int32) * size_bytes
        data = rng.integers(0, 256, row_count * size_bytes, dtype=np.uint8)
        return pa.Array.from_buffers(pa.binary(), row_count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])

    timestamps = 1_763_000_000_000 + np.arange(row_count) // 7
    return pa.record_batch({"key": column(KEY_BYTES), "value": column(VALUE_BYTES), "timestamp": timestamps})


def our_round(rates: Rates, table: pa.RecordBatch) -> None:
    for batch_records in BATCH_RECORDS:
        name = f"{batch_records:,} a batch"
        encode = partial(
            encode_batches,
            table,
            default_timestamp_ms=0,
            batch_bytes_max=batch_records * RECORD_BYTES,
        )
        batches = rates.time(f"encode, {name}", len(table), encode)
        decode = partial(decode_batches, memoryview(b"".join(batches)))
        decoded = rates.time(f"decode, {name}", len(table), decode)
        if not decoded.records.select(["key", "value"]).equals(table.select(["key", "value"])):
            raise SystemExit(f"{name}: decoded columns differ from the encoded ones")
    partition = partial(murmur2_partitions, table.column("key"), 12)
    rates.time("murmur2 partitions", len(table), partition)


class Librdkafka:
    """A producer that carries a mock cluster, and a consumer of it."""

    def __init__(self, table: pa.RecordBatch) -> None:
        rows = table.slice(0, BATCH_RECORDS[0]).select(["key", "value"])
        self._messages = rows.to_pylist()
        self._producer = Producer(
            {
                "test.mock.num.brokers": 1,
                "bootstrap.servers": "replaced.by.the.mock",
                "log_level": 0,
                "linger.ms": 5,
                "batch.num.messages": BATCH_RECORDS[0],
                "batch.size": 2_000_000,
                "message.max.bytes": 3_000_000,
                "queue.buffering.max.messages": 2_000_000,
                "queue.buffering.max.kbytes": 2_000_000,
            }
        )
        (broker,) = self._producer.list_topics(timeout=WAIT_S).brokers.values()
        self._consumer = Consumer(
            {
                "bootstrap.servers": f"{broker.host}:{broker.port}",
                "group.id": "columnar",
                "log_level": 0,
                "enable.auto.commit": False,
                "check.crcs": False,
                "queued.min.messages": 1_000_000,
                "queued.max.messages.kbytes": 1_000_000,
                "fetch.message.max.bytes": 8_000_000,
                "fetch.wait.max.ms": 10,
            }
        )

    def round(self, rates: Rates) -> None:
        calls = PARTITION_COUNT * MOCK_KEEPS_RECORDS // len(self._messages)
        rates.time("librdkafka produce", calls * len(self._messages), lambda: self._produce(calls))
        self._consume(rates)

    def _produce(self, calls: int) -> None:
        for call in range(calls):
            queued = self._producer.produce_batch(TOPIC, self._messages, partition=call % PARTITION_COUNT)
            if queued != len(self._messages):
                raise SystemExit(f"librdkafka queued {queued} of {len(self._messages)} messages")
        if self._producer.flush(WAIT_S):
            raise SystemExit("librdkafka did not deliver its messages")

    def _consume(self, rates: Rates) -> None:
        partitions = []
        wanted = 0
        for number in range(PARTITION_COUNT):
            low, high = self._consumer.get_watermark_offsets(TopicPartition(TOPIC, number), timeout=WAIT_S)
            partitions.append(TopicPartition(TOPIC, number, low))
            wanted += high - low
        self._consumer.assign(partitions)
        missing = wanted - len(self._consumer.consume(1, timeout=WAIT_S))
        start = time.perf_counter()
        timed = missing
        while missing > 0:
            messages = self._consumer.consume(min(missing, BATCH_RECORDS[0]), timeout=1.0)
            missing -= len(messages)
            if time.perf_counter() - start > WAIT_S:
                raise SystemExit("librdkafka did not get its messages back")
        rates.add("librdkafka consume", timed, time.perf_counter() - start)
        self._consumer.unassign()

    def close(self) -> None:
        self._consumer.close()


def measure(*, quick: bool) -> Rates:
    rates = Rates()
    table = make_table(ROW_COUNT)
    our_round(Rates(), table)
    rival = Librdkafka(table)
    for _ in range(2 if quick else 12):
        with one_core():
            for _ in range(REPEATS):
                our_round(rates, table)
        rival.round(rates)
    rival.close()
    return rates


def figures_of(rates: Rates) -> list[Figure]:
    figures = []
    for name, rate in rates.wall.items():
        if name in RIVALS.values():
            figures.append(Figure(name, rate, "M records/s"))
            continue
        goal = RECORDS_PER_SECOND_GOAL if name.startswith(tuple(RIVALS)) else None
        figures.append(
            Figure(name, rates.core[name], "M records/s", at_least=goal, note=f"{rate:.2f} by the wall clock")
        )
    for direction, rival in RIVALS.items():
        for batch_records in BATCH_RECORDS:
            name = f"{direction}, {batch_records:,} a batch"
            # librdkafka filled batches of 10,000; the smaller ones are compared for information.
            goal = RATIO_GOAL if batch_records == BATCH_RECORDS[0] else None
            ratio = rates.wall[name] / rates.wall[rival]
            figures.append(Figure(f"{name}: times {rival}", ratio, "x", at_least=goal))
    return figures


def parts(arguments: argparse.Namespace, _: ExitStack) -> Iterator[tuple[str, list[Figure]]]:
    yield "Record batches from and to Arrow columns, one core", figures_of(measure(quick=arguments.quick))


if __name__ == "__main__":
    sys.exit(run_benchmark(__doc__, parts))
