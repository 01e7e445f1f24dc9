"""One range of one partition as Arrow: exactly [start, end), without a Python object for each record.

For who plans reads in one place and carries them out in another, as Spark does. Connections are lent by a pool and
given back, so that a process that reads range after range opens none anew. Aborted transactions and markers are
filtered with the consumer's own code; offsets that they or compaction left empty are passed over. Trouble that passes
is tried again until `default.api.timeout.ms` went by without progress. What the partition no longer has is
`OffsetOutOfRange`, or `TopicReplaced` if it is another topic by now.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

import pyarrow as pa

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.consumer.fetch_session import FetchTarget, is_same_topic, send_fetch
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import OffsetOutOfRange, RetriableError, Timeout
from fencepost.client.net.connection import Connection
from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.net.pool import ConnectionPool
from fencepost.client.offsets import EARLIEST_TIMESTAMP, list_offsets
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.errors import ErrorCode
from fencepost.records.columnar.decode import DecodedBatches, decode_batches
from fencepost.records.header import read_header, split_batches
from fencepost.records.record import InvalidRecordBatch
from fencepost.types import OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import FetchResponse, PartitionData

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
    """Fetches one range of one partition over one connection, the next answer asked for before the last is worked upon.

    No session: the broker has nothing to remember of a reader that comes once. How much to ask for follows from what
    the range's offsets have weighed so far, so that a short range in a long partition does not bring megabytes behind
    its end.
    """

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
                self._bytes_per_offset = chunk.remaining_bytes / (chunk.next_offset - position)
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
        target = FetchTarget(self._wanted.topic_id, position, self._leader_epoch, self._fetch_bytes(position))
        send_fetch(self._connection, self._settings, {self._wanted.topic_partition: target})

    def _fetch_bytes(self, position: int) -> int:
        most = self._settings.max_partition_fetch_bytes
        if self._bytes_per_offset is None:
            return min(most, FIRST_FETCH_BYTES)
        left = self._wanted.offsets.end_offset - position
        return min(most, max(SMALLEST_FETCH_BYTES, int(left * self._bytes_per_offset * MARGIN)))

    def _receive(self, position: int) -> PartitionData | None:
        """The answer about the partition; None if the broker said nothing about it, as it does to slow readers down."""
        _, response = self._connection.receive()
        assert isinstance(response, FetchResponse)
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
        chunk = FetchChunk.of_answer(self._wanted.topic_partition, answer, fetch_offset=position)
        if chunk is None or chunk.next_offset > position:
            return chunk
        if chunk.damage is not None:
            raise chunk.damage
        return None

    def _readable_end(self, answer: PartitionData) -> int:
        return answer.last_stable_offset if self._settings.is_read_committed else answer.high_watermark


class TopicReplaced(OffsetOutOfRange):
    """The topic that the offsets belong to is gone, and there is another one of the same name."""


class RangeReader:
    """Reads ranges of one cluster, one at a time."""

    def __init__(self, cluster: Cluster, settings: ConsumerSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._pool = ConnectionPool(settings, on_versions=lambda _: None)

    def read(self, wanted: PartitionRange, *, include_headers: bool) -> Iterator[pa.RecordBatch]:
        """The records of the range in order, in batches as they arrive, none of them empty."""
        for chunk in self._chunks(wanted):
            for decoded in _decode(chunk, wanted.offsets.end_offset, self._settings, include_headers=include_headers):
                if decoded.records.num_rows:
                    yield decoded.records

    def _chunks(self, wanted: PartitionRange) -> Iterator[FetchChunk]:
        position, end_offset = wanted.offsets
        deadline, backoff = self._deadline(), Backoff(self._settings)
        while position < end_offset:
            try:
                for chunk in self._chunks_of_leader(wanted, position, deadline):
                    yield chunk
                    position, deadline = chunk.next_offset, self._deadline()
                return
            except RetriableError as problem:
                self._cluster.mark_stale()
                backoff.pause(deadline, problem, f"{wanted.topic_partition} from offset {position} on")

    def earliest(self, topic_partition: TopicPartition) -> int:
        """Where the partition begins by now."""
        asked, is_read_committed = {topic_partition: EARLIEST_TIMESTAMP}, self._settings.is_read_committed
        found = list_offsets(self._cluster, asked, self._deadline(), is_read_committed=is_read_committed)
        return found[topic_partition].offset

    def close(self) -> None:
        self._pool.close()
        self._cluster.close()

    def _deadline(self) -> Deadline:
        return Deadline(self._settings.default_api_timeout_ms / 1000)

    def _chunks_of_leader(self, wanted: PartitionRange, position: int, deadline: Deadline) -> Iterator[FetchChunk]:
        topic_partition = wanted.topic_partition
        partition = self._topic(wanted, position, deadline).partitions.get(topic_partition.partition)
        leader = self._cluster.leader(topic_partition)
        if partition is None or leader is None:
            raise error_of(ErrorCode.LEADER_NOT_AVAILABLE, "Fetch", what=str(topic_partition))
        with self._pool.lend(leader) as connection:
            fetch = RangeFetch(connection, self._settings, wanted, leader_epoch=partition.leader_epoch)
            yield from fetch.chunks(position)

    def _topic(self, wanted: PartitionRange, position: int, deadline: Deadline) -> TopicMetadata:
        """The topic that the offsets belong to; another id is believed only if the cluster says it again."""
        name = wanted.topic_partition.topic
        topic = self._cluster.topic(name, deadline)
        if not is_same_topic(topic.topic_id, wanted.topic_id):
            self._cluster.mark_stale()
            topic = self._cluster.topic(name, deadline)
        if not is_same_topic(topic.topic_id, wanted.topic_id):
            raise TopicReplaced(wanted.topic_partition, position, "the topic was deleted and created again")
        return topic


def _decode(
    chunk: FetchChunk, end_offset: int, settings: ConsumerSettings, *, include_headers: bool
) -> Iterator[DecodedBatches]:
    while not chunk.is_empty and chunk.position < end_offset:
        offsets = OffsetRange(chunk.position, end_offset)
        decoded = decode_chunk(chunk, offsets, include_headers=include_headers, check_crcs=settings.check_crcs)
        if not decoded.consumed_bytes:
            return
        chunk.advance(decoded.consumed_bytes, decoded.next_offset)
        yield decoded


def decode_chunk(chunk: FetchChunk, offsets: OffsetRange, *, include_headers: bool, check_crcs: bool) -> DecodedBatches:
    """The rest of the chunk; if a batch of it is corrupt, what lies before; if that is the first, `CorruptRecord`."""
    data, is_filtered = chunk.rest()
    unused = is_filtered.copy()
    options: dict[str, Any] = {"offsets": offsets, "with_headers": include_headers, "check_crcs": check_crcs}
    try:
        return decode_batches(data, skip_batch=is_filtered, **options)
    except InvalidRecordBatch as problem:
        good_bytes = _good_bytes(data, check_crcs=check_crcs)
        if not good_bytes:
            raise chunk.corrupt(problem, read_header(data).base_offset) from problem
        chunk.replace_filter(unused)
        return decode_batches(data[:good_bytes], skip_batch=unused, **options)


def _good_bytes(data: memoryview, *, check_crcs: bool) -> int:
    """How much of the data comes before the first batch that cannot be decoded."""
    good_bytes = 0
    for header, batch in split_batches(data, drop_partial_tail=True):
        try:
            decode_batches(batch, check_crcs=check_crcs)
        except InvalidRecordBatch:
            break
        good_bytes += header.size_bytes
    return good_bytes
