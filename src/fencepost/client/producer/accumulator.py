"""Records that wait to be sent, gathered into batches by partition, within a bound of memory. Pure.

A batch is ready when it is full, has lingered, or something waits for it: a flush, a close, or a sender without memory.
Time comes in as seconds of the monotonic clock. Locks and waiting are the producer's.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.delivery import Delivery, RecordFuture
from fencepost.client.producer.partition_queue import PartitionQueue
from fencepost.client.settings import ProducerSettings
from fencepost.records.header import HEADER_BYTES
from fencepost.records.record import Record
from fencepost.types import TopicPartition

NEVER_S = float("inf")
AT_ONCE_S = float("-inf")


class Alarm:
    """How a sleeping sender is woken: a pipe that it polls, written to only if it would sleep too long otherwise.

    `set`, `ring_before` and `clear` are called with the lock held that guards what is slept for.
    """

    def __init__(self) -> None:
        self._receiver, self._sender = os.pipe()
        os.set_blocking(self._receiver, False)
        os.set_blocking(self._sender, False)
        self._sleeps_until_s = AT_ONCE_S
        self._is_closed = False

    def fileno(self) -> int:
        return self._receiver

    def set(self, until_s: float) -> None:
        self._sleeps_until_s = until_s

    def ring_before(self, moment_s: float) -> None:
        """Make sure that the sleeper looks again by then."""
        if self._sleeps_until_s > moment_s and not self._is_closed:
            self._sleeps_until_s = AT_ONCE_S
            with contextlib.suppress(BlockingIOError):
                os.write(self._sender, b"\x00")

    def clear(self) -> None:
        self._sleeps_until_s = AT_ONCE_S
        with contextlib.suppress(BlockingIOError):
            os.read(self._receiver, 4096)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            os.close(self._receiver)
            os.close(self._sender)


class Limits(NamedTuple):
    batch_bytes: int
    linger_s: float
    buffer_bytes: int
    delivery_timeout_s: float

    @classmethod
    def of(cls, settings: ProducerSettings) -> "Limits":
        return cls(
            batch_bytes=min(settings.batch_size, settings.max_request_size),
            linger_s=settings.linger_ms / 1000,
            buffer_bytes=settings.buffer_memory,
            delivery_timeout_s=settings.delivery_timeout_ms / 1000,
        )


class Accumulator:
    def __init__(self, limits: Limits, *, is_numbered: bool) -> None:
        self._limits = limits
        self._is_numbered = is_numbered
        self._queues: dict[TopicPartition, PartitionQueue] = {}
        self._busy: dict[TopicPartition, PartitionQueue] = {}
        """The queues with something in them."""
        self.incomplete: dict[ProducerBatch, int] = {}
        """Every batch that is not settled, with the memory that it was given: compression shrinks it later."""
        self.used_bytes = 0
        self.flush_count = 0
        """How many are waiting for everything to be sent."""
        self.blocked_count = 0
        """How many are waiting for memory."""

    def queue(self, topic_partition: TopicPartition) -> PartitionQueue:
        found = self._queues.get(topic_partition)
        if found is None:
            found = self._queues[topic_partition] = PartitionQueue(topic_partition, is_numbered=self._is_numbered)
        return found

    def busy_queues(self) -> Iterator[PartitionQueue]:
        for topic_partition, queue in list(self._busy.items()):
            if queue.is_idle:
                del self._busy[topic_partition]
            else:
                yield queue

    def append(
        self, topic_partition: TopicPartition, record: Record, size_bytes: int, now_s: float
    ) -> RecordFuture | None:
        """The record's future, or None if there is no memory at the moment for its `record_bytes_max`."""
        if self.used_bytes + HEADER_BYTES + size_bytes > self._limits.buffer_bytes and self.incomplete:
            return None
        queue = self.queue(topic_partition)
        batch = queue.new[-1] if queue.new else None
        if batch is None or batch.is_closed or batch.size_bytes + size_bytes > self._limits.batch_bytes:
            if batch is not None:
                batch.is_closed = True
            batch = ProducerBatch(topic_partition, created_at_s=now_s)
            self._add(queue, batch)
        index = batch.append(record)
        self.used_bytes += batch.size_bytes - self.incomplete[batch]
        self.incomplete[batch] = batch.size_bytes
        if batch.size_bytes >= self._limits.batch_bytes:
            batch.is_closed = True
        return RecordFuture(batch.delivery, index, record.timestamp_ms)

    def add_whole(
        self, topic_partition: TopicPartition, encoded: bytearray | memoryview, is_sealed: bool, now_s: float
    ) -> Delivery | None:
        """A batch that was made elsewhere, behind what waits already; None if there is no memory at the moment."""
        if self.used_bytes + len(encoded) > self._limits.buffer_bytes and self.incomplete:
            return None
        queue = self.queue(topic_partition)
        if queue.new:
            queue.new[-1].is_closed = True
        batch = ProducerBatch.of(topic_partition, encoded, is_sealed=is_sealed, created_at_s=now_s)
        self._add(queue, batch)
        return batch.delivery

    def is_ready(self, queue: PartitionQueue, now_s: float) -> bool:
        batch = queue.sendable(now_s)
        if batch is None:
            return False
        return batch.is_closed or self.is_pressed or batch.created_at_s + self._limits.linger_s <= now_s

    def ready_at_s(self, topic_partition: TopicPartition, now_s: float) -> float:
        """When the first new batch of a partition may go, as far as lingering is concerned."""
        first = self.queue(topic_partition).new[0]
        return now_s if first.is_closed or self.is_pressed else first.created_at_s + self._limits.linger_s

    @property
    def is_pressed(self) -> bool:
        return bool(self.flush_count or self.blocked_count)

    def wake_at_s(self, now_s: float) -> float:
        """When the next pause, linger or delivery timeout ends. What could go now waits for something else."""
        wake_at_s = NEVER_S
        for queue in self._busy.values():
            oldest, batch = queue.oldest_waiting, queue.next_to_send
            if oldest is not None:
                wake_at_s = min(wake_at_s, oldest.created_at_s + self._limits.delivery_timeout_s)
            if batch is not None:
                lingered_at_s = batch.created_at_s + (0.0 if batch.is_closed else self._limits.linger_s)
                ready_at_s = max(batch.retry_at_s, lingered_at_s)
                wake_at_s = min(wake_at_s, ready_at_s if ready_at_s > now_s else NEVER_S)
        return wake_at_s

    def drop_expired(self, now_s: float) -> list[ProducerBatch]:
        created_before_s = now_s - self._limits.delivery_timeout_s
        return [batch for queue in self.busy_queues() for batch in queue.drop_expired(created_before_s)]

    def drop_waiting(self) -> list[ProducerBatch]:
        return [batch for queue in self.busy_queues() for batch in queue.drop_waiting()]

    def has_expired(self, batch: ProducerBatch, now_s: float) -> bool:
        return batch.created_at_s + self._limits.delivery_timeout_s <= now_s

    def release(self, batch: ProducerBatch) -> None:
        """The batch is settled: its memory is free."""
        self.used_bytes -= self.incomplete.pop(batch, 0)

    def _add(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        queue.new.append(batch)
        self._busy[queue.topic_partition] = queue
        self.incomplete[batch] = batch.size_bytes
        self.used_bytes += batch.size_bytes
