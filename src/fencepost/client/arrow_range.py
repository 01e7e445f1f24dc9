"""One range of one partition as Arrow: exactly [start, end), without a Python object for each record.

For who plans reads in one place and carries them out in another, as Spark does. Connections are lent by a pool and
given back, so that a process that reads range after range opens none anew. Aborted transactions and markers are
filtered with the consumer's own code; offsets that they or compaction left empty are passed over. Trouble that passes
is tried again until `default.api.timeout.ms` went by without progress. What the partition no longer has is
`OffsetOutOfRange`, or `TopicReplaced` if it is another topic by now.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from fencepost.client.cluster import Cluster
from fencepost.client.connection_pool import ConnectionPool
from fencepost.client.consumer_exceptions import OffsetOutOfRange
from fencepost.client.consumer_settings import ConsumerSettings
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import RetriableError
from fencepost.client.fetch_chunk import FetchChunk
from fencepost.client.metadata import TopicMetadata
from fencepost.client.offsets import EARLIEST_TIMESTAMP, list_offsets, pause_or_give_up
from fencepost.client.range_fetch import PartitionRange, RangeFetch
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.errors import ErrorCode
from fencepost.records.columnar import DecodedBatches, decode_batches
from fencepost.records.errors import InvalidRecordBatch
from fencepost.records.header import read_header, split_batches
from fencepost.types import NO_TOPIC_ID, OffsetRange, TopicPartition


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
                pause_or_give_up(backoff, deadline, problem, f"{wanted.topic_partition} from offset {position} on")

    def earliest(self, where: TopicPartition) -> int:
        """Where the partition begins by now."""
        asked = {where: EARLIEST_TIMESTAMP}
        is_read_committed = self._settings.is_read_committed
        return list_offsets(self._cluster, asked, self._deadline(), is_read_committed=is_read_committed)[where].offset

    def close(self) -> None:
        self._pool.close()
        self._cluster.close()

    def _deadline(self) -> Deadline:
        return Deadline(self._settings.default_api_timeout_ms / 1000)

    def _chunks_of_leader(self, wanted: PartitionRange, position: int, deadline: Deadline) -> Iterator[FetchChunk]:
        where = wanted.topic_partition
        partition = self._topic(wanted, position, deadline).partitions.get(where.partition)
        leader = self._cluster.leader(where)
        if partition is None or leader is None:
            raise error_of(ErrorCode.LEADER_NOT_AVAILABLE, "Fetch", what=str(where))
        with self._pool.lend(leader) as connection:
            fetch = RangeFetch(connection, self._settings, wanted, leader_epoch=partition.leader_epoch)
            yield from fetch.chunks(position)

    def _topic(self, wanted: PartitionRange, position: int, deadline: Deadline) -> TopicMetadata:
        """The topic that the offsets belong to; another id is believed only if the cluster says it again."""
        name = wanted.topic_partition.topic
        topic = self._cluster.topic(name, deadline)
        if not _is_same(topic, wanted):
            self._cluster.mark_stale()
            topic = self._cluster.topic(name, deadline)
        if not _is_same(topic, wanted):
            raise TopicReplaced(wanted.topic_partition, position, "the topic was deleted and created again")
        return topic


def _is_same(topic: TopicMetadata, wanted: PartitionRange) -> bool:
    return topic.topic_id == wanted.topic_id or NO_TOPIC_ID in (topic.topic_id, wanted.topic_id)


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
