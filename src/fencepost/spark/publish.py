"""Pinned record batches to their partitions under one producer id and epoch, from whichever process calls (step 4).

Sequences start at 0 on every partition, so a partition's batches must all come through one call, in their order. The
bytes of the records are those that were pinned; only the header is stamped, so a retry under another epoch sends the
same records. The first failure ends it, and what was acknowledged is counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from fencepost.client.raw_producer import RawProducer
from fencepost.client.values import ProducerIdentity
from fencepost.records.columnar import ProducerStamp, stamp_producer
from fencepost.records.header import read_header
from fencepost.spark.options import KafkaOptions
from fencepost.types import Buffer, TopicPartition

PinnedBatch = tuple[TopicPartition, Buffer]
"""Who gives memory that can be written to gives it away: the stamp is written into it."""

DEFAULTS = {"max_request_size": 8 * 1024 * 1024, "buffer_memory": 64 * 1024 * 1024}
"""Large requests: one sync of the broker covers a batch of every partition."""


class Publisher:
    """Keeps its connections from one transaction to the next."""

    def __init__(self, options: KafkaOptions, transactional_id: str) -> None:
        self.options = options
        self.transactional_id = transactional_id
        self._producer: RawProducer | None = None

    def publish(
        self, identity: ProducerIdentity, batches: Iterable[PinnedBatch], *, timeout_s: float
    ) -> Counter[TopicPartition]:
        """Returns when everything is stored: how many records on each partition. Raises the first failure."""
        producer = self._producer_for(identity)
        try:
            acknowledged = producer.produce(_stamped(batches, identity), timeout_s=timeout_s)
        except BaseException:
            self.close()
            raise
        counts: Counter[TopicPartition] = Counter()
        for batch in acknowledged:
            counts[batch.topic_partition] += batch.record_count
        return counts

    def close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.close()

    def _producer_for(self, identity: ProducerIdentity) -> RawProducer:
        if self._producer is None:
            self._producer = RawProducer(
                self.options.bootstrap_servers,
                identity=identity,
                transactional_id=self.transactional_id,
                **{**DEFAULTS, **self.options.keywords()},
            )
        self._producer.go_on_as(identity)
        return self._producer


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
