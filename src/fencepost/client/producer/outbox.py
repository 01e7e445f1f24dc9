"""Where records are put, and waited for: the accumulator with the lock, the waiting and the alarm around it.

Producers put records in and block while memory is full (back-pressure); the sender takes batches out. One lock guards
both; it is never held while a broker is waited for.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from fencepost.client.exceptions import BufferExhausted, ClientError, Timeout
from fencepost.client.producer.accumulator import AT_ONCE_S, NEVER_S, Accumulator, Alarm, Limits
from fencepost.client.producer.delivery import Delivery, RecordFuture
from fencepost.client.settings import ProducerSettings
from fencepost.client.time_limits import Deadline
from fencepost.records.record import Record
from fencepost.types import TopicPartition

AddedT = TypeVar("AddedT", RecordFuture, Delivery)
Check = Callable[[], None]
"""Raises if a record must not go in any more. It is called with the lock held, so that a call that empties the outbox
afterwards finds the record, or the record never gets in."""


class Outbox:
    def __init__(self, settings: ProducerSettings, *, is_numbered: bool) -> None:
        self.accumulator = Accumulator(Limits.of(settings), is_numbered=is_numbered)
        self.lock = threading.Lock()
        self.alarm = Alarm()
        self._buffer_memory = settings.buffer_memory
        self._memory_freed = threading.Condition(self.lock)
        self._why_closed: ClientError | None = None

    def put(
        self, topic_partition: TopicPartition, record: Record, size_bytes: int, deadline: Deadline, check: Check
    ) -> RecordFuture:
        add = partial(self.accumulator.append, topic_partition, record, size_bytes)
        return self._put(topic_partition, add, deadline, check)

    def put_whole(
        self,
        topic_partition: TopicPartition,
        encoded: bytearray | memoryview,
        *,
        is_sealed: bool,
        deadline: Deadline,
        check: Check,
    ) -> Delivery:
        add = partial(self.accumulator.add_whole, topic_partition, encoded, is_sealed)
        return self._put(topic_partition, add, deadline, check)

    def _put(
        self, topic_partition: TopicPartition, add: Callable[[float], AddedT | None], deadline: Deadline, check: Check
    ) -> AddedT:
        """Waits for memory."""
        with self.lock:
            while True:
                if self._why_closed is not None:
                    raise self._why_closed
                check()
                now_s = time.monotonic()
                added = add(now_s)
                if added is not None:
                    self.alarm.ring_before(self.accumulator.ready_at_s(topic_partition, now_s))
                    return added
                self._wait_for_memory(deadline)

    def settle(self, deadline: Deadline) -> None:
        """Send everything that is here by now, and wait until it is settled, well or badly."""
        with self.lock:
            batches = list(self.accumulator.incomplete)
            if not batches:
                return
            self.accumulator.flush_count += 1
            self.alarm.ring_before(time.monotonic())
        try:
            for batch in batches:
                remaining_s = deadline.remaining_s
                if not batch.delivery.wait(None if remaining_s == NEVER_S else remaining_s):
                    with self.lock:
                        trouble = self.accumulator.queue(batch.topic_partition).last_trouble
                    raise Timeout(f"{batch.topic_partition}: records are still on their way{trouble}")
        finally:
            with self.lock:
                self.accumulator.flush_count -= 1

    def memory_was_freed(self) -> None:
        """With the lock held."""
        if self.accumulator.blocked_count:
            self._memory_freed.notify_all()

    def close(self, why: ClientError) -> None:
        """Nothing goes in any more; calls that wait to put something in raise this, and later ones too."""
        with self.lock:
            self._why_closed = self._why_closed or why
            self._memory_freed.notify_all()
            self.alarm.ring_before(AT_ONCE_S)

    def _wait_for_memory(self, deadline: Deadline) -> None:
        if deadline.has_passed:
            troubles = [queue.last_trouble for queue in self.accumulator.busy_queues() if queue.trouble is not None]
            raise BufferExhausted(
                f"buffer.memory={self._buffer_memory} is full of records that are not delivered yet, "
                f"and there was no room within max.block.ms{next(iter(troubles), '')}"
            )
        self.accumulator.blocked_count += 1
        try:
            self.alarm.ring_before(time.monotonic())
            self._memory_freed.wait(deadline.remaining_s)
        finally:
            self.accumulator.blocked_count -= 1
