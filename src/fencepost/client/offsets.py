"""Questions about offsets: where partitions begin and end, what was written when, what a group has committed.

Every question is asked again, of whoever leads or coordinates by then, until it is answered or the time is up.
Committed offsets are stable ones for `read_committed`: while a transaction that carries some is open, the coordinator
says so and the question waits for its end, because exactly one of two places is the right one to start from.
"""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from fencepost.client.admin.asking import fetch_partition
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.consumer.fetch_chunk import FetchFilter
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import FIND_COORDINATOR_AGAIN, REFRESH_METADATA, Category, category_of, error_of
from fencepost.client.exceptions import ClientError, RetriableError, Timeout
from fencepost.client.net.metadata import Node
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.client.values import NO_LEADER_EPOCH, OffsetAndMetadata
from fencepost.records.header import split_batches
from fencepost.records.reader import read_records
from fencepost.types import NO_OFFSET, NO_TIMESTAMP, NO_TOPIC_ID, OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import PartitionData
from fencepost.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseTopics,
)

LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
CONSUMER = -1
LAST_VERSION_WITH_NAMES = 9
"""Of OffsetFetch and OffsetCommit. Later ones know topics by their ids only: nobody is given, or overwrites, offsets of
another topic of the same name."""


class OffsetAndTimestamp(NamedTuple):
    offset: int
    timestamp_ms: int = NO_TIMESTAMP


def list_offsets(
    cluster: Cluster, timestamps_ms: Mapping[TopicPartition, int], deadline: Deadline, *, is_read_committed: bool
) -> dict[TopicPartition, OffsetAndTimestamp]:
    """For each partition the first offset at or after its time, or where it begins or ends; -1: there is none."""
    found: dict[TopicPartition, OffsetAndTimestamp] = {}
    backoff = Backoff(cluster.settings)
    while missing := {where: timestamp for where, timestamp in timestamps_ms.items() if where not in found}:
        for topic in dict.fromkeys(where.topic for where in missing):
            cluster.topic(topic, deadline)
        problem = try_list_offsets(cluster, missing, deadline, found, is_read_committed=is_read_committed)
        if len(found) < len(timestamps_ms):
            cluster.mark_stale()
            pause_or_give_up(backoff, deadline, problem, f"offsets of {', '.join(map(str, missing))}")
    return found


def try_list_offsets(
    cluster: Cluster,
    timestamps_ms: Mapping[TopicPartition, int],
    deadline: Deadline,
    found: dict[TopicPartition, OffsetAndTimestamp],
    *,
    is_read_committed: bool,
) -> ClientError | None:
    """Ask once, add what is known to `found`; the return value is what passes and kept some from being answered."""
    problem: ClientError | None = None
    for node, asked in _by_leader(cluster, timestamps_ms).items():
        try:
            problem = _ask_leader(cluster, node, asked, deadline, is_read_committed, found) or problem
        except RetriableError as lost:
            problem = lost
    return problem


def committed_offsets(
    cluster: Cluster,
    group_id: str,
    partitions: Iterable[TopicPartition],
    deadline: Deadline,
    *,
    is_read_committed: bool,
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    """What the group has committed; None where it has not."""
    asked = [TopicPartition(*where) for where in partitions]
    backoff = Backoff(cluster.settings)
    while True:
        try:
            return try_committed_offsets(cluster, group_id, asked, deadline, is_read_committed=is_read_committed)
        except RetriableError as problem:
            pause_or_give_up(backoff, deadline, problem, f"committed offsets of group '{group_id}'")


def try_committed_offsets(
    cluster: Cluster, group_id: str, asked: list[TopicPartition], deadline: Deadline, *, is_read_committed: bool
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    """The same, asked once. Raises `RetriableError` for what passes."""
    topic_ids = {where.topic: cluster.metadata.topic_id(where.topic) for where in asked}
    try:
        response = cluster.call_coordinator(
            CoordinatorType.GROUP,
            group_id,
            _offset_fetch(group_id, asked, topic_ids, is_read_committed=is_read_committed),
            OffsetFetchResponse,
            deadline=deadline,
            at_most=LAST_VERSION_WITH_NAMES if NO_TOPIC_ID in topic_ids.values() else None,
        )
        return _read_committed_offsets(response, group_id, asked, {id_: name for name, id_ in topic_ids.items()})
    except RetriableError as problem:
        if problem.error_code in FIND_COORDINATOR_AGAIN:
            cluster.forget_coordinator(CoordinatorType.GROUP, group_id)
        if problem.error_code in REFRESH_METADATA:
            cluster.refresh(topic_ids)
        raise


def pause_or_give_up(backoff: Backoff, deadline: Deadline, problem: ClientError | None, what: str) -> None:
    if deadline.has_passed:
        raise Timeout(f"{what} did not come in time; the last try said: {problem}") from problem
    time.sleep(deadline.at_most(backoff.next_pause_s()))


def _by_leader(cluster: Cluster, timestamps_ms: Mapping[TopicPartition, int]) -> dict[Node, dict[TopicPartition, int]]:
    asked: dict[Node, dict[TopicPartition, int]] = {}
    for where, timestamp_ms in timestamps_ms.items():
        node = cluster.leader(where)
        if node is not None:
            asked.setdefault(node, {})[where] = timestamp_ms
    return asked


def _ask_leader(
    cluster: Cluster,
    node: Node,
    asked: Mapping[TopicPartition, int],
    deadline: Deadline,
    is_read_committed: bool,
    found: dict[TopicPartition, OffsetAndTimestamp],
) -> ClientError | None:
    """Add what the leader knows to `found`; the return value is what to try again for."""
    topics: dict[str, ListOffsetsTopic] = {}
    for where, timestamp_ms in asked.items():
        topic = topics.setdefault(where.topic, ListOffsetsTopic(where.topic))
        topic.partitions.append(ListOffsetsPartition(partition_index=where.partition, timestamp=timestamp_ms))
    request = ListOffsetsRequest(
        replica_id=CONSUMER, isolation_level=int(is_read_committed), topics=list(topics.values())
    )
    limit_s = max(0.001, deadline.at_most(cluster.settings.request_timeout_ms / 1000))
    response = cluster.call(node, request, ListOffsetsResponse, timeout_s=limit_s)
    problem: ClientError | None = None
    for topic_row in response.topics:
        for row in topic_row.partitions:
            where = TopicPartition(topic_row.name, row.partition_index)
            if row.error_code == 0:
                found[where] = OffsetAndTimestamp(row.offset, row.timestamp)
                continue
            problem = error_of(row.error_code, "ListOffsets", what=str(where))
            is_passing = category_of(row.error_code, "ListOffsets") is Category.RETRIABLE
            if not is_passing and row.error_code not in REFRESH_METADATA:
                raise problem
    return problem


def _offset_fetch(
    group_id: str, asked: list[TopicPartition], topic_ids: Mapping[str, UUID], *, is_read_committed: bool
) -> OffsetFetchRequest:
    indexes: dict[str, list[int]] = {}
    for where in asked:
        indexes.setdefault(where.topic, []).append(where.partition)
    return OffsetFetchRequest(
        group_id=group_id,
        topics=[OffsetFetchRequestTopic(name, partitions) for name, partitions in indexes.items()],
        groups=[
            OffsetFetchRequestGroup(
                group_id=group_id,
                topics=[
                    OffsetFetchRequestTopics(name=name, topic_id=topic_ids[name], partition_indexes=partitions)
                    for name, partitions in indexes.items()
                ],
            )
        ],
        require_stable=is_read_committed,
    )


def _read_committed_offsets(
    response: OffsetFetchResponse, group_id: str, asked: list[TopicPartition], names: Mapping[UUID, str]
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    answer = response.groups[0] if response.groups else response
    if answer.error_code:
        raise error_of(answer.error_code, "OffsetFetch", what=f"group '{group_id}'")
    found: dict[TopicPartition, OffsetAndMetadata | None] = dict.fromkeys(asked)
    for topic in answer.topics:
        topic_id = topic.topic_id if isinstance(topic, OffsetFetchResponseTopics) else NO_TOPIC_ID
        name = topic.name or names[topic_id]
        for row in topic.partitions:
            where = TopicPartition(name, row.partition_index)
            if row.error_code:
                raise error_of(row.error_code, "OffsetFetch", what=f"group '{group_id}', {where}")
            if row.committed_offset != NO_OFFSET:
                epoch = row.committed_leader_epoch
                found[where] = OffsetAndMetadata(
                    row.committed_offset, row.metadata or "", NO_LEADER_EPOCH if epoch is None else epoch
                )
    return found


# How many records a reader still has before it: counted, not subtracted.
#
# Offsets overstate it: markers, aborted records and what compaction removed all have offsets and are never delivered.
# No request of Kafka's tells the count, so the batches from the position to the end are fetched and their headers
# added up: nothing is decompressed or decoded but the batches that the two ends cut through. It costs the transfer of
# what is left to read, and a microsecond or so for each batch; a consumer at the end costs one question.


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
