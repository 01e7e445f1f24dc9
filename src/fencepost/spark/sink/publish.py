"""Pinned record batches to their partitions under one producer id and epoch, from whichever process calls (step 4).

Sequences start at 0 on every partition, so a partition's batches must all come through one call, in their order. The
bytes of the records are those that were pinned; only the header is stamped, so a retry under another epoch sends the
same records. The first failure ends it, and what was acknowledged is counted.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator

from fencepost.client.exceptions import ClientError, IllegalState, Timeout
from fencepost.client.raw_producer import RawProducer, Sent
from fencepost.client.time_limits import Deadline
from fencepost.client.values import ProducerIdentity
from fencepost.records.columnar.encode import ProducerStamp, stamp_producer
from fencepost.records.header import read_header
from fencepost.spark.options import KafkaOptions
from fencepost.types import Buffer, TopicPartition

logger = logging.getLogger("fencepost.spark")

PinnedBatch = tuple[TopicPartition, Buffer]
"""Who gives memory that can be written to gives it away: the stamp is written into it."""

DEFAULTS = {"max_request_size": 8 * 1024 * 1024, "buffer_memory": 32 * 1024 * 1024}
"""Of each lane. Large requests: one sync of the broker covers a batch of every partition."""
LANE_BYTES = 512 * 1024
"""A partition gets another lane if those that there are have more than this already."""


class Publisher:
    """Keeps its connections from one transaction to the next.

    Kafka takes no request from a connection before it has answered the one before. So the partitions of a large
    transaction can be shared out among lanes, each a producer with a connection of its own.
    """

    def __init__(self, options: KafkaOptions, transactional_id: str, *, lane_count_max: int = 1) -> None:
        self.options = options
        self.transactional_id = transactional_id
        self._lane_count_max = lane_count_max
        self._producers: list[RawProducer] = []
        self._is_closed = False

    def publish(
        self, identity: ProducerIdentity, batches: Iterable[PinnedBatch], *, timeout_s: float
    ) -> Counter[TopicPartition]:
        """Returns when everything is stored: how many records on each partition. Raises the first failure."""
        deadline = Deadline(timeout_s)
        lanes = Lanes(self._lane_count_max)
        opened: list[tuple[RawProducer, list[Sent]]] = []
        try:
            for where, batch in _stamped(batches, identity):
                number = lanes.lane(where, len(batch))
                if number == len(opened):
                    opened.append((self._producer(number, identity), []))
                for producer, _ in opened:
                    producer.check_going()
                producer, sent = opened[number]
                sent.append(producer.put(where, batch, deadline))
            stored = [answer for producer, sent in opened for answer in producer.settle(sent, deadline)]
        except BaseException as problem:
            self._drop()
            if isinstance(problem, Timeout):
                # Of two lanes that failed, the one that has heard why says more than the one that waited.
                for producer, _ in opened:
                    producer.check_going()
            raise
        counts: Counter[TopicPartition] = Counter()
        for answer in stored:
            counts[answer.topic_partition] += answer.record_count
        return counts

    def close(self) -> None:
        self._is_closed = True
        self._drop()

    def _drop(self) -> None:
        producers, self._producers = self._producers, []
        for producer in producers:
            producer.stop()
        for producer in producers:
            try:
                producer.close()
            except ClientError as problem:
                logger.info("a producer of '%s' is left to end by itself: %s", self.transactional_id, problem)

    def _producer(self, lane: int, identity: ProducerIdentity) -> RawProducer:
        if self._is_closed:
            raise IllegalState(f"the publisher of '{self.transactional_id}' is closed")
        if lane == len(self._producers):
            made = RawProducer(
                self.options.bootstrap_servers,
                identity=identity,
                transactional_id=self.transactional_id,
                **{**DEFAULTS, **self.options.keywords()},
            )
            self._producers.append(made)
        producer = self._producers[lane]
        producer.go_on_as(identity)
        return producer


class Lanes:
    """Which lane a partition's batches take, all of them the same, in one transaction. A small one has one lane."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._taken: dict[TopicPartition, int] = {}
        self._size_bytes = [0]

    def lane(self, where: TopicPartition, size_bytes: int) -> int:
        if where not in self._taken:
            if min(self._size_bytes) >= LANE_BYTES and len(self._size_bytes) < self._count_max:
                self._size_bytes.append(0)
            self._taken[where] = self._size_bytes.index(min(self._size_bytes))
        lane = self._taken[where]
        self._size_bytes[lane] += size_bytes
        return lane


def _stamped(batches: Iterable[PinnedBatch], identity: ProducerIdentity) -> Iterator[tuple[TopicPartition, memoryview]]:
    stamps: dict[TopicPartition, ProducerStamp] = {}
    first = ProducerStamp(identity.producer_id, identity.producer_epoch, 0, is_transactional=True)
    for where, pinned in batches:
        view = memoryview(pinned)
        batch = memoryview(bytearray(view)) if view.readonly else view
        stamp = stamps.get(where, first)
        stamp_producer(batch, stamp)
        stamps[where] = stamp.after(read_header(batch).record_count)
        yield where, batch
