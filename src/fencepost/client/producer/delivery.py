"""What became of a record: one promise for each record batch, one light future for each record in it.

A batch is answered once and all its futures with it, so a record costs no lock of its own.
"""

import logging
import threading
from collections.abc import Callable

from fencepost.client.exceptions import ClientError, Timeout
from fencepost.client.values import RecordMetadata
from fencepost.types import NO_OFFSET, NO_TIMESTAMP, TopicPartition

logger = logging.getLogger("fencepost.client")


class Delivery:
    """The fate of one batch."""

    __slots__ = ("_callbacks", "_done", "_lock", "append_time_ms", "base_offset", "error", "topic_partition")

    def __init__(self, topic_partition: TopicPartition) -> None:
        self.topic_partition = topic_partition
        self.base_offset = NO_OFFSET
        self.append_time_ms = NO_TIMESTAMP
        self.error: ClientError | None = None
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    def succeed(self, base_offset: int, append_time_ms: int = NO_TIMESTAMP) -> None:
        self.base_offset = base_offset
        self.append_time_ms = append_time_ms
        self._finish()

    def fail(self, error: ClientError) -> None:
        self.error = error
        self._finish()

    def wait(self, timeout_s: float | None = None) -> bool:
        return self._done.wait(timeout_s)

    def call_when_done(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if not self._done.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def _finish(self) -> None:
        with self._lock:
            self._done.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


class RecordFuture:
    """The fate of one record; has the calls of `concurrent.futures.Future` that make sense here."""

    __slots__ = ("_delivery", "_index", "_timestamp_ms")

    def __init__(self, delivery: Delivery, index: int, timestamp_ms: int) -> None:
        self._delivery = delivery
        self._index = index
        self._timestamp_ms = timestamp_ms

    def done(self) -> bool:
        return self._delivery.is_done

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Where the record is, once it is there; raises what kept it from getting there."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        delivery = self._delivery
        offset = delivery.base_offset
        return RecordMetadata(
            delivery.topic_partition.topic,
            delivery.topic_partition.partition,
            offset if offset == NO_OFFSET else offset + self._index,
            self._timestamp_ms if delivery.append_time_ms == NO_TIMESTAMP else delivery.append_time_ms,
        )

    def exception(self, timeout: float | None = None) -> ClientError | None:
        if not self._delivery.wait(timeout):
            raise Timeout(f"{self._delivery.topic_partition}: not delivered within {timeout} s, still trying")
        return self._delivery.error

    def add_done_callback(self, callback: Callable[["RecordFuture"], None]) -> None:
        """Runs on the sender's thread, or here and now if it is done already. What it raises is logged."""
        self._delivery.call_when_done(lambda: self._run(callback))

    def _run(self, callback: Callable[["RecordFuture"], None]) -> None:
        try:
            callback(self)
        except Exception:
            logger.exception("a delivery callback for %s failed", self._delivery.topic_partition)


class TableFuture:
    """The fate of all rows that one `send_arrow` sent."""

    __slots__ = ("_deliveries", "row_count")

    def __init__(self, deliveries: list[Delivery], row_count: int) -> None:
        self._deliveries = deliveries
        self.row_count = row_count

    def done(self) -> bool:
        return all(delivery.is_done for delivery in self._deliveries)

    def exception(self, timeout: float | None = None) -> ClientError | None:
        """The first error, in the order in which the batches were made."""
        for delivery in self._deliveries:
            if not delivery.wait(timeout):
                raise Timeout(f"{delivery.topic_partition}: not delivered within {timeout} s, still trying")
        return next((delivery.error for delivery in self._deliveries if delivery.error is not None), None)

    def result(self, timeout: float | None = None) -> int:
        """How many rows were sent, once all of them are there."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        return self.row_count
