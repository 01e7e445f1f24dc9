"""The ledger: one compacted partition for each sink, where every transaction leaves a token of what it did (step 3).

One partition for each sink, because another's open transaction would hold this one's committed token back from
readers. It is created explicitly, as safe as the outputs, and its settings are checked whenever a driver takes over.
It is read to the high watermark of that moment, which is taken after InitProducerId: by then whatever an earlier
driver left open is decided. `look` reads it before, without any right to it: a driver that can see that it is the
wrong one leaves the right one alone.
"""

import logging
import time
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from fencepost.client.admin.admin import Admin
from fencepost.client.admin.topics import NewTopic
from fencepost.client.consumer.consumer import Consumer
from fencepost.client.exceptions import Authorization, ClientError
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink.errors import RefusedSetup
from fencepost.types import NO_OFFSET, TopicPartition

logger = logging.getLogger("fencepost.spark")

PREFIX = "__fencepost_ledger"
SEGMENT_BYTES = 1024 * 1024
OPEN_TIMEOUT_S = 15.0
READ_TIMEOUT_S = 60.0
LOOK_TIMEOUT_S = 0.5
"""Between its token and its commit a driver that does well takes milliseconds."""
POLL_S = 0.02
SETTLE_PAUSE_S = 0.02


class Ledger:
    def __init__(self, options: KafkaOptions, *, namespace: str, name: str) -> None:
        self._options = options
        self.topic = f"{PREFIX}.{namespace}.{name}"
        self.partition = TopicPartition(self.topic, 0)

    def open(self, outputs: Iterable[str]) -> None:
        """Create it if it is not there, and check what is."""
        with Admin(self._options.bootstrap_servers, **client_keywords(self._options)) as admin:
            replication_factor, min_insync = _safety(admin, list(outputs))
            wanted = {
                "cleanup.policy": "compact",
                "segment.bytes": str(SEGMENT_BYTES),
                "min.insync.replicas": str(min_insync),
            }
            try:
                admin.create_topics([NewTopic(self.topic, 1, replication_factor, wanted)])
            except ClientError as problem:
                if problem.error_code != ErrorCode.TOPIC_ALREADY_EXISTS and not isinstance(problem, Authorization):
                    raise
            self._check(admin, replication_factor, min_insync)

    def read(self) -> dict[bytes, bytes]:
        """The newest value of every key. Call it after InitProducerId has returned."""
        deadline = Deadline(READ_TIMEOUT_S)
        end, is_decided = self._settled_end(deadline)
        if not is_decided:
            raise RefusedSetup(
                f"the ledger {self.topic} holds an open transaction that is not this sink's, below offset {end}: "
                "`fencepost txn blockers` tells whose; nobody but the sink may write there"
            )
        return self._read_to(end, deadline)

    def look(self) -> dict[bytes, bytes] | None:
        """The same before InitProducerId; None while a transaction is open there, which may yet be committed."""
        end, is_decided = self._settled_end(Deadline(LOOK_TIMEOUT_S))
        return self._read_to(end, Deadline(READ_TIMEOUT_S)) if is_decided else None

    def token_batch(self, key: bytes, value: bytes) -> tuple[TopicPartition, bytes]:
        return self.partition, build_batch([Record(NO_OFFSET, time.time_ns() // 1_000_000, key, value, ())])

    def _settled_end(self, deadline: Deadline) -> tuple[int, bool]:
        """The high watermark, and whether everything below it is decided before the deadline."""
        with Admin(self._options.bootstrap_servers, **client_keywords(self._options)) as admin:
            end = admin.latest_offsets([self.partition])[self.partition]
            while admin.latest_offsets([self.partition], read_committed=True)[self.partition] < end:
                if deadline.has_passed:
                    return end, False
                time.sleep(SETTLE_PAUSE_S)
            return end, True

    def _read_to(self, end: int, deadline: Deadline) -> dict[bytes, bytes]:
        with Consumer(
            self._options.bootstrap_servers,
            group_id=None,
            isolation_level="read_committed",
            **client_keywords(self._options),
        ) as consumer:
            consumer.assign([self.partition])
            consumer.seek_to_beginning([self.partition])
            found: dict[bytes, bytes] = {}
            while consumer.position(self.partition) < end:
                for record in consumer.poll(POLL_S):
                    if record.offset < end and record.key is not None and record.value is not None:
                        found[record.key] = record.value
                if deadline.has_passed:
                    raise RefusedSetup(f"the ledger {self.topic} could not be read to its end, offset {end}, in time")
            return found

    def _check(self, admin: Admin, replication_factor: int, min_insync: int) -> None:
        # A broker may hear of a topic a moment after the controller has made it.
        partition_count = admin.cluster.topic(self.topic, Deadline(OPEN_TIMEOUT_S)).partition_count
        settings = admin.topic_settings(self.topic)
        policy = settings.get("cleanup.policy")
        if partition_count != 1 or policy != "compact":
            raise RefusedSetup(
                f"the ledger {self.topic} has {partition_count} partitions and cleanup.policy={policy}: expected 1 and "
                "compact, or tokens could be lost. Set the policy back, or give the sink another name"
            )
        found = _safety(admin, [self.topic])
        if found[0] < replication_factor or found[1] < min_insync:
            logger.warning(
                "the ledger %s has %d replicas and min.insync.replicas=%d, the outputs have %d and %d: the sink is "
                "only as "
                "safe as its ledger",
                self.topic,
                *found,
                replication_factor,
                min_insync,
            )


def client_keywords(options: KafkaOptions) -> dict[str, Any]:
    """Those settings that every client has, not only producers."""
    shared = {field.name for field in fields(ClientSettings)}
    return {name: value for name, value in options.keywords().items() if name in shared}


def _safety(admin: Admin, topics: list[str]) -> tuple[int, int]:
    """The largest replication factor and min.insync.replicas among the topics."""
    if not topics:
        return -1, 1
    response = admin.cluster.ask_metadata(topics)
    factors = [len(row.replica_nodes) for topic in response.topics for row in topic.partitions]
    in_sync = [int(admin.topic_settings(topic).get("min.insync.replicas") or 1) for topic in topics]
    return max(factors, default=-1), max(in_sync, default=1)
