"""Where records are put, and waited for: the accumulator with the lock, the waiting and the alarm around it.

Producers put records in and block while memory is full (back-pressure); the sender takes batches out. One lock guards
both; nobody holds it while waiting for a broker.
"""

import threading
import time
from collections.abc import Callable

from fencepost.client.exceptions import BufferExhausted, ClientError, Timeout
from fencepost.client.producer.accumulator import AT_ONCE_S, NEVER_S, Accumulator, Alarm, Limits
from fencepost.client.producer.delivery import Delivery, RecordFuture
from fencepost.client.time_limits import Deadline
from fencepost.records.record import Headers
from fencepost.types import TopicPartition


class Outbox:
    def __init__(self, limits: Limits, *, is_numbered: bool) -> None:
        self.accumulator = Accumulator(limits, is_numbered=is_numbered)
        self.lock = threading.Lock()
        self.alarm = Alarm()
        self._limits = limits
        self._memory_freed = threading.Condition(self.lock)
        self._why_closed: ClientError | None = None

    def put(
        self,
        topic_partition: TopicPartition,
        *,
        timestamp_ms: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        deadline: Deadline,
        check: Callable[[], None],
    ) -> RecordFuture:
        """Waits for memory. `check` raises if the record must not go in any more: it is asked with the lock held, so
        that whoever empties the outbox afterwards finds the record, or it never gets in."""
        with self.lock:
            while True:
                self._check_open()
                check()
                now_s = time.monotonic()
                future = self.accumulator.append(
                    topic_partition, timestamp_ms=timestamp_ms, key=key, value=value, headers=headers, now_s=now_s
                )
                if future is not None:
                    self.alarm.ring_before(self.accumulator.ready_at_s(topic_partition, now_s))
                    return future
                self._wait_for_memory(deadline)

    def put_whole(
        self,
        topic_partition: TopicPartition,
        encoded: bytearray | memoryview,
        *,
        is_sealed: bool,
        deadline: Deadline,
        check: Callable[[], None],
    ) -> Delivery:
        with self.lock:
            while True:
                self._check_open()
                check()
                now_s = time.monotonic()
                delivery = self.accumulator.add_whole(topic_partition, encoded, is_sealed=is_sealed, now_s=now_s)
                if delivery is not None:
                    self.alarm.ring_before(now_s)
                    return delivery
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
                        trouble = self.accumulator.queue(batch.topic_partition).told_trouble
                    raise Timeout(f"{batch.topic_partition}: records are still on their way{trouble}")
        finally:
            with self.lock:
                self.accumulator.flush_count -= 1

    def memory_was_freed(self) -> None:
        """With the lock held."""
        if self.accumulator.blocked_count:
            self._memory_freed.notify_all()

    def close(self, why: ClientError) -> None:
        """Nothing goes in any more; who waits is told, and who comes later."""
        with self.lock:
            self._why_closed = self._why_closed or why
            self._memory_freed.notify_all()
            self.alarm.ring_before(AT_ONCE_S)

    def _check_open(self) -> None:
        if self._why_closed is not None:
            raise self._why_closed

    def _wait_for_memory(self, deadline: Deadline) -> None:
        if deadline.has_passed:
            troubles = [queue.told_trouble for queue in self.accumulator.busy_queues() if queue.trouble is not None]
            raise BufferExhausted(
                f"buffer.memory={self._limits.buffer_bytes} is full of records that are not delivered yet, "
                f"and there was no room within max.block.ms{next(iter(troubles), '')}"
            )
        self.accumulator.blocked_count += 1
        try:
            self.alarm.ring_before(time.monotonic())
            self._memory_freed.wait(deadline.remaining_s)
        finally:
            self.accumulator.blocked_count -= 1
