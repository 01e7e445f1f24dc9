"""Fetches one range of one partition over one connection, the next answer asked for before the last is worked upon.

No session: the broker has nothing to remember of a reader that comes once. How much to ask for follows from what the
range's offsets have weighed so far, so that a short range in a long partition does not bring megabytes behind its end.
"""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from fencepost.client.connection import Connection
from fencepost.client.consumer_exceptions import OffsetOutOfRange
from fencepost.client.consumer_settings import ConsumerSettings
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import Disconnected, Timeout
from fencepost.client.fetch_chunk import FetchChunk
from fencepost.client.fetch_node import LAST_VERSION_WITH_NAMES
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.types import NO_TOPIC_ID, OffsetRange, TopicPartition
from fencepost.wire.api import FETCH
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData

FIRST_FETCH_BYTES = 1024 * 1024
SMALLEST_FETCH_BYTES = 64 * 1024
MARGIN = 1.1
"""How much more than by the measure so far is asked for, so that a range does not end with a second, tiny fetch."""


class PartitionRange(NamedTuple):
    """`topic_id` is that of the topic whose offsets these are; NO_TOPIC_ID where the cluster has no ids."""

    topic_partition: TopicPartition
    topic_id: UUID
    offsets: OffsetRange


class RangeFetch:
    def __init__(
        self, connection: Connection, settings: ConsumerSettings, wanted: PartitionRange, *, leader_epoch: int
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._wanted = wanted
        self._leader_epoch = leader_epoch
        self._bytes_per_offset: float | None = None

    def chunks(self, position: int) -> Iterator[FetchChunk]:
        """What lies between `position` and the range's end, and perhaps some batches behind it."""
        end_offset = self._wanted.offsets.end_offset
        limit_s = self._settings.default_api_timeout_ms / 1000
        deadline = Deadline(limit_s)
        self._send(position)
        while position < end_offset:
            answer = self._receive(position)
            chunk = None if answer is None else self._chunk(answer, position)
            if chunk is not None:
                position, deadline = chunk.next_offset, Deadline(limit_s)
                if chunk.damage is not None:
                    yield from self._last_chunk(chunk)
                    return
            elif answer is not None and self._readable_end(answer) >= end_offset:
                return
            elif deadline.has_passed:
                raise Timeout(f"{self._wanted.topic_partition}: nothing came from offset {position} on")
            if position < end_offset:
                self._send(position)
            if chunk is not None:
                yield chunk

    def _last_chunk(self, chunk: FetchChunk) -> Iterator[FetchChunk]:
        """What lies before the damage, then the damage, if it lies in the range: nothing behind it can be read."""
        yield chunk
        if chunk.damage is not None and chunk.next_offset < self._wanted.offsets.end_offset:
            raise chunk.damage

    def _send(self, position: int) -> None:
        where, settings = self._wanted.topic_partition, self._settings
        partition = FetchPartition(
            partition=where.partition,
            current_leader_epoch=self._leader_epoch,
            fetch_offset=position,
            partition_max_bytes=self._fetch_bytes(position),
        )
        request = FetchRequest(
            max_wait_ms=settings.fetch_max_wait_ms,
            min_bytes=1,
            max_bytes=settings.fetch_max_bytes,
            isolation_level=int(settings.is_read_committed),
            topics=[FetchTopic(where.topic, self._wanted.topic_id, [partition])],
        )
        at_most = LAST_VERSION_WITH_NAMES if self._wanted.topic_id == NO_TOPIC_ID else None
        limit_s = (settings.request_timeout_ms + settings.fetch_max_wait_ms) / 1000
        version = self._connection.versions.choose(FETCH, at_most=at_most)
        self._connection.send(request, version=version, timeout_s=limit_s)

    def _fetch_bytes(self, position: int) -> int:
        most = self._settings.max_partition_fetch_bytes
        if self._bytes_per_offset is None:
            return min(most, FIRST_FETCH_BYTES)
        left = self._wanted.offsets.end_offset - position
        return min(most, max(SMALLEST_FETCH_BYTES, int(left * self._bytes_per_offset * MARGIN)))

    def _receive(self, position: int) -> PartitionData | None:
        """The answer about the partition; None if the broker said nothing about it, as it does to slow readers down."""
        _, response = self._connection.receive()
        if not isinstance(response, FetchResponse):
            raise Disconnected(f"{self._connection.address} answered a fetch with {type(response).__name__}")
        code = response.error_code
        answer = next((row for topic in response.responses for row in topic.partitions), None)
        if answer is not None:
            code = code or answer.error_code
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            raise OffsetOutOfRange(self._wanted.topic_partition, position, "the partition does not have it")
        if code:
            raise error_of(code, "Fetch", what=f"{self._wanted.topic_partition} at offset {position}")
        return answer

    def _chunk(self, answer: PartitionData, position: int) -> FetchChunk | None:
        records = answer.records[0] if answer.records else b""
        if not len(records):
            return None
        aborted = [(row.producer_id, row.first_offset) for row in answer.aborted_transactions or ()]
        chunk = FetchChunk(
            self._wanted.topic_partition,
            records,
            fetch_offset=position,
            aborted_transactions=aborted if self._settings.is_read_committed else None,
        )
        if chunk.next_offset == position:
            if chunk.damage is not None:
                raise chunk.damage
            return None
        self._bytes_per_offset = len(records) / (chunk.next_offset - position)
        return chunk

    def _readable_end(self, answer: PartitionData) -> int:
        return answer.last_stable_offset if self._settings.is_read_committed else answer.high_watermark
