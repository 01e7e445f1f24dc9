"""The batches of a partition with what became of them: markers, aborted and undecided ones included.

Below the last stable offset every transaction is decided, and the broker's list of aborted ones says how. Above it some
are decided and some open: the markers up to the end say which, so that part is read twice.
"""

from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from fencepost.client.admin.asking import fetch_partition
from fencepost.client.admin.topics import EARLIEST, LATEST, list_offsets
from fencepost.client.cluster import Cluster
from fencepost.client.consumer.fetch_chunk import FetchFilter
from fencepost.client.exceptions import RetriableError
from fencepost.client.offsets import pause_or_give_up
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.records.control import ControlMarker, read_marker
from fencepost.records.header import BatchHeader, split_batches
from fencepost.types import OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import PartitionData


class Outcome(Enum):
    PLAIN = "plain"
    """Outside of any transaction."""
    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"
    MARKER = "marker"
    """A control batch: the end of a transaction, or another word of a broker's."""


class InspectedBatch(NamedTuple):
    topic_partition: TopicPartition
    header: BatchHeader
    batch: memoryview
    outcome: Outcome
    marker: ControlMarker | None = None


Ends = dict[int, list[tuple[int, bool]]]
"""Producer id -> its markers, in order: (offset, whether it commits)."""


def inspect_batches(
    cluster: Cluster, where: TopicPartition, offsets: OffsetRange, *, deadline: Deadline
) -> Iterator[InspectedBatch]:
    """The batches that hold an offset of the range, in order; the range is cut to what there is at this moment."""
    start_offset = max(offsets.start_offset, list_offsets(cluster, [where], EARLIEST)[where])
    stable = list_offsets(cluster, [where], LATEST, read_committed=True)[where]
    end_offset = min(offsets.end_offset, list_offsets(cluster, [where], LATEST)[where])
    yield from _inspect_stable(cluster, where, OffsetRange(start_offset, min(stable, end_offset)), deadline)
    unstable = OffsetRange(max(start_offset, stable), end_offset)
    if not len(unstable):
        return
    ends = _read_ends(cluster, where, stable, deadline)
    for header, batch, _ in _read(cluster, where, unstable, deadline, read_committed=False):
        marker = read_marker(batch) if header.is_control else None
        yield InspectedBatch(where, header, batch, _undecided_outcome(header, ends), marker)


def _inspect_stable(
    cluster: Cluster, where: TopicPartition, offsets: OffsetRange, deadline: Deadline
) -> Iterator[InspectedBatch]:
    for header, batch, is_filtered in _read(cluster, where, offsets, deadline, read_committed=True):
        if header.is_control:
            yield InspectedBatch(where, header, batch, Outcome.MARKER, read_marker(batch))
        elif not header.is_transactional:
            yield InspectedBatch(where, header, batch, Outcome.PLAIN)
        else:
            yield InspectedBatch(where, header, batch, Outcome.ABORTED if is_filtered else Outcome.COMMITTED)


def _undecided_outcome(header: BatchHeader, ends: Ends) -> Outcome:
    if header.is_control:
        return Outcome.MARKER
    if not header.is_transactional:
        return Outcome.PLAIN
    markers = ends.get(header.producer_id, [])
    following = bisect_left(markers, (header.base_offset, False))
    if following == len(markers):
        return Outcome.OPEN
    return Outcome.COMMITTED if markers[following][1] else Outcome.ABORTED


def _read_ends(cluster: Cluster, where: TopicPartition, stable_offset: int, deadline: Deadline) -> Ends:
    ends: Ends = {}
    offsets = OffsetRange(stable_offset, list_offsets(cluster, [where], LATEST)[where])
    for header, batch, _ in _read(cluster, where, offsets, deadline, read_committed=False):
        if header.is_control and (marker := read_marker(batch)) is not None:
            ends.setdefault(header.producer_id, []).append((header.base_offset, marker.is_commit))
    return ends


def _read(
    cluster: Cluster, where: TopicPartition, offsets: OffsetRange, deadline: Deadline, *, read_committed: bool
) -> Iterator[tuple[BatchHeader, memoryview, bool]]:
    """Batches, and whether a `read_committed` reader is to pass over each."""
    at = offsets.start_offset
    backoff = Backoff(cluster.settings)
    while at < offsets.end_offset:
        try:
            answer = fetch_partition(cluster, where, at, read_committed=read_committed, deadline=deadline)
        except RetriableError as problem:
            cluster.mark_stale()
            pause_or_give_up(backoff, deadline, problem, f"records of {where}")
            continue
        backoff.reset()
        before = at
        for header, batch, is_filtered in _filtered(answer):
            if header.base_offset >= offsets.end_offset:
                return
            if header.last_offset >= at:
                at = header.last_offset + 1
                yield header, batch, is_filtered
        if at == before:
            return


def _filtered(answer: PartitionData) -> Iterator[tuple[BatchHeader, memoryview, bool]]:
    is_filtered = FetchFilter((row.producer_id, row.first_offset) for row in answer.aborted_transactions or ())
    for header, batch in split_batches(answer.records[0] if answer.records else b"", drop_partial_tail=True):
        yield header, batch, is_filtered(header, batch)
