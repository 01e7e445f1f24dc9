"""The batches of a partition with what became of them: markers, aborted and undecided ones included.

Below the last stable offset every transaction is decided, and the broker's list of aborted ones says how. Above it some
are decided and some open: the markers up to the end say which, so that part is read twice.
"""

from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from fencepost.client.admin.topics import TopicCalls
from fencepost.client.cluster import Cluster
from fencepost.client.offsets import read_batches
from fencepost.client.time_limits import Deadline
from fencepost.records.control import ControlMarker, read_marker
from fencepost.records.header import BatchHeader
from fencepost.types import OffsetRange, TopicPartition


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
    cluster: Cluster, topic_partition: TopicPartition, offsets: OffsetRange, *, deadline: Deadline
) -> Iterator[InspectedBatch]:
    """The batches that hold an offset of the range, in order; the range is cut to what there is at this moment."""
    topics = TopicCalls(cluster)
    start_offset = max(offsets.start_offset, topics.earliest_offsets([topic_partition])[topic_partition])
    stable = topics.latest_offsets([topic_partition], read_committed=True)[topic_partition]
    end_offset = min(offsets.end_offset, topics.latest_offsets([topic_partition])[topic_partition])
    yield from _inspect_stable(cluster, topic_partition, OffsetRange(start_offset, min(stable, end_offset)), deadline)
    unstable = OffsetRange(max(start_offset, stable), end_offset)
    if not len(unstable):
        return
    ends = _read_ends(cluster, topic_partition, stable, deadline)
    for header, batch, _ in read_batches(cluster, topic_partition, unstable, deadline, read_committed=False):
        marker = read_marker(batch) if header.is_control else None
        yield InspectedBatch(topic_partition, header, batch, _undecided_outcome(header, ends), marker)


def _inspect_stable(
    cluster: Cluster, topic_partition: TopicPartition, offsets: OffsetRange, deadline: Deadline
) -> Iterator[InspectedBatch]:
    for header, batch, is_filtered in read_batches(cluster, topic_partition, offsets, deadline, read_committed=True):
        if header.is_control:
            yield InspectedBatch(topic_partition, header, batch, Outcome.MARKER, read_marker(batch))
        elif not header.is_transactional:
            yield InspectedBatch(topic_partition, header, batch, Outcome.PLAIN)
        else:
            yield InspectedBatch(topic_partition, header, batch, Outcome.ABORTED if is_filtered else Outcome.COMMITTED)


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


def _read_ends(cluster: Cluster, topic_partition: TopicPartition, stable_offset: int, deadline: Deadline) -> Ends:
    ends: Ends = {}
    offsets = OffsetRange(stable_offset, TopicCalls(cluster).latest_offsets([topic_partition])[topic_partition])
    for header, batch, _ in read_batches(cluster, topic_partition, offsets, deadline, read_committed=False):
        if header.is_control and (marker := read_marker(batch)) is not None:
            ends.setdefault(header.producer_id, []).append((header.base_offset, marker.is_commit))
    return ends
