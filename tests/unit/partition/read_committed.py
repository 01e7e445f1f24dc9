"""A read_committed consumer in thirty lines: fetches whole batches, and filters as Kafka's clients do."""

import heapq
from collections.abc import Iterator

from fencepost.partition.partition import AbortedTransaction
from fencepost.partition.visibility import IsolationLevel, aborted_transactions, decide_fetch
from fencepost.records.control import ControlMarker
from fencepost.records.header import BatchHeader
from fencepost.types import OffsetRange
from tests.unit.partition.driver import PartitionDriver

StoredBatch = tuple[BatchHeader, ControlMarker | None]


def consume(partition: PartitionDriver, *, start_offset: int, batches_max: int) -> list[int]:
    """The offsets that are delivered from `start_offset` on, with at most `batches_max` batches in each fetch."""
    delivered: list[int] = []
    position = start_offset
    while True:
        allowed = decide_fetch(partition.state, fetch_offset=position, isolation_level=IsolationLevel.READ_COMMITTED)
        assert isinstance(allowed, OffsetRange)
        fetched = [
            (header, marker)
            for header, marker in partition.journal
            if position <= header.last_offset < allowed.end_offset
        ][:batches_max]
        if not fetched:
            return delivered
        end_offset = fetched[-1][0].last_offset + 1
        aborted = aborted_transactions(partition.state, OffsetRange(position, end_offset))
        delivered += [offset for offset in filter_aborted(fetched, aborted) if offset >= position]
        position = end_offset


def filter_aborted(fetched: list[StoredBatch], aborted: list[AbortedTransaction]) -> Iterator[int]:
    pending = [(transaction.first_offset, transaction.producer_id) for transaction in aborted]
    heapq.heapify(pending)
    aborted_producer_ids: set[int] = set()
    for header, marker in fetched:
        if header.has_producer_id:
            while pending and pending[0][0] <= header.last_offset:
                aborted_producer_ids.add(heapq.heappop(pending)[1])
            if header.is_control:
                if marker is not None and not marker.is_commit:
                    aborted_producer_ids.discard(header.producer_id)
            elif header.is_transactional and header.producer_id in aborted_producer_ids:
                continue
        if not header.is_control:
            yield from range(header.base_offset, header.last_offset + 1)
