"""How many records a reader still has before it: counted, not subtracted.

Offsets overstate it: markers, aborted records and what compaction removed all have offsets and are never delivered. No
request of Kafka's tells the count, so the batches from the position to the end are fetched and their headers added up:
nothing is decompressed or decoded but the batches that the two ends cut through. It costs the transfer of what is
left to read, and a microsecond or so for each batch; a consumer at the end costs one question.
"""

from fencepost.client.admin_fetch import fetch_partition
from fencepost.client.cluster import Cluster
from fencepost.client.consumer_settings import ConsumerSettings
from fencepost.client.exceptions import ClientError, RetriableError
from fencepost.client.fetch_filter import FetchFilter
from fencepost.client.offsets import pause_or_give_up
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.records.header import split_batches
from fencepost.records.reader import read_records
from fencepost.types import OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import PartitionData


def count_records(
    cluster: Cluster, settings: ConsumerSettings, where: TopicPartition, offsets: OffsetRange, deadline: Deadline
) -> int:
    """Records of a partition within `offsets` that a reader of this isolation level gets."""
    count, at = 0, offsets.start_offset
    backoff = Backoff(settings)
    while at < offsets.end_offset:
        problem: ClientError | None = None
        try:
            answer = fetch_partition(cluster, where, at, read_committed=settings.is_read_committed, deadline=deadline)
            found, at = _count_answer(answer, OffsetRange(at, offsets.end_offset))
            count += found
            backoff.reset()
        except RetriableError as lost:
            problem = lost
            cluster.mark_stale()
        if problem is not None or deadline.has_passed:
            pause_or_give_up(backoff, deadline, problem, f"the lag of {where}")
    return count


def _count_answer(answer: PartitionData, offsets: OffsetRange) -> tuple[int, int]:
    """The records of one answer that lie within `offsets`, and where to go on; nothing at all is the end."""
    count, at = 0, offsets.start_offset
    is_filtered = FetchFilter((row.producer_id, row.first_offset) for row in answer.aborted_transactions or ())
    for header, batch in split_batches(answer.records[0] if answer.records else b"", drop_partial_tail=True):
        if header.base_offset >= offsets.end_offset:
            return count, offsets.end_offset
        if not is_filtered(header, batch):
            if header.base_offset < offsets.start_offset or header.last_offset >= offsets.end_offset:
                count += sum(record.offset in offsets for record in read_records(batch))
            else:
                count += header.record_count
        at = max(at, header.last_offset + 1)
    return count, at if at > offsets.start_offset else offsets.end_offset
