"""Topics of one broker: filled before a measurement, watched while it runs, read and compared after it."""

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fencepost.client import Admin, Producer, TopicPartition, read_arrow

PARTITION_COUNT = 4
POLL_S = 0.005
WAIT_S = 180.0


class Topics:
    def __init__(self, servers: str) -> None:
        self.servers = servers
        self._admin = Admin(servers)
        self._producer = Producer(servers)

    def create(self, topic: str) -> str:
        self._admin.create_topic(topic, PARTITION_COUNT, 1)
        self._producer.partitions_for(topic)
        return topic

    def fill(self, topic: str, table: pa.Table) -> None:
        self._producer.send_arrow(topic, table).result(120)

    def visible(self, topic: str) -> int:
        """How far a reader of committed records gets, markers included."""
        partitions = [TopicPartition(topic, partition) for partition in range(PARTITION_COUNT)]
        return sum(self._admin.latest_offsets(partitions, read_committed=True).values())

    def await_visible(self, topic: str, end: int, check: Callable[[], None]) -> None:
        deadline_s = time.monotonic() + WAIT_S
        while self.visible(topic) < end:
            check()
            if time.monotonic() > deadline_s:
                raise RuntimeError(f"{topic} did not come to {end} within {WAIT_S:g} s")
            time.sleep(POLL_S)

    def verify(self, topic: str, count: int) -> None:
        """Every key is there, once."""
        keys = read_arrow(self.servers, topic).column("key")
        distinct = pc.count_distinct(keys).as_py()
        if (len(keys), distinct) != (count, count):
            raise RuntimeError(f"{topic} has {len(keys)} records with {distinct} keys: expected {count} of each")

    def close(self) -> None:
        self._producer.close()
        self._admin.close()

    def delete(self, topic: str) -> None:
        self._admin.delete_topics([topic])


def numbered(first: int, count: int, *, value_bytes: int) -> pa.Table:
    """Records with 8-byte keys, from `first` on."""
    keys = np.arange(first, first + count, dtype=">i8")
    key_column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(8), count, [None, pa.py_buffer(keys)])
    values = pa.array([b"v" * value_bytes], pa.binary()).take(pa.array(np.zeros(count, np.int32)))
    return pa.table({"key": key_column.cast(pa.binary()), "value": values})
