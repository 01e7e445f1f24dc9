"""Questions about offsets: where partitions begin and end, what was written when, what a group has committed.

Every question is asked again, of the leader or coordinator of that moment, until it is answered or the time is up.
Committed offsets are stable ones for `read_committed`: while a transaction that carries some is open, the coordinator
says so and the question waits for its end, because exactly one of two places is the right one to start from.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from uuid import UUID

from fencepost.client.admin.asking import fetch_partition
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.consumer.fetch_chunk import FetchFilter
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import FIND_COORDINATOR_AGAIN, REFRESH_METADATA, error_of
from fencepost.client.exceptions import RetriableError, Timeout
from fencepost.client.net.metadata import Node
from fencepost.client.time_limits import Deadline, retry
from fencepost.client.values import NO_LEADER_EPOCH, ConsumerGroupMetadata, OffsetAndMetadata, Offsets, by_topic
from fencepost.records.header import BatchHeader, split_batches
from fencepost.records.reader import read_records
from fencepost.types import NO_OFFSET, NO_TIMESTAMP, NO_TOPIC_ID, OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import PartitionData
from fencepost.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
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
"""Of OffsetFetch and OffsetCommit. Later ones know topics by their ids only: no reader is given, or overwrites, offsets
of another topic of the same name."""
FIRST_VERSION_WITH_ALL_TOPICS = 2


class OffsetAndTimestamp(NamedTuple):
    offset: int
    timestamp_ms: int = NO_TIMESTAMP


FoundOffsets = dict[TopicPartition, OffsetAndTimestamp]


def list_offsets(
    cluster: Cluster, timestamps_ms: Mapping[TopicPartition, int], deadline: Deadline, *, is_read_committed: bool
) -> FoundOffsets:
    """For each partition the first offset at or after its time, or where it begins or ends; -1: there is none."""
    found: FoundOffsets = {}

    def ask() -> FoundOffsets:
        missing = {one: timestamp_ms for one, timestamp_ms in timestamps_ms.items() if one not in found}
        for topic in by_topic(missing):
            cluster.topic(topic, deadline)
        more, problem = try_list_offsets(cluster, missing, deadline, is_read_committed=is_read_committed)
        found.update(more)
        if problem is not None:
            cluster.mark_stale()
            raise problem
        return found

    return retry(ask, cluster.settings, deadline, f"offsets of {', '.join(map(str, timestamps_ms))}")


def try_list_offsets(
    cluster: Cluster, timestamps_ms: Mapping[TopicPartition, int], deadline: Deadline, *, is_read_committed: bool
) -> tuple[FoundOffsets, RetriableError | None]:
    """Ask once: what is known, and what passes and kept some from being answered."""
    found: FoundOffsets = {}
    problem: RetriableError | None = None
    asked: dict[Node, dict[str, ListOffsetsTopic]] = {}
    for topic_partition, timestamp_ms in timestamps_ms.items():
        node = cluster.leader(topic_partition)
        if node is None:
            problem = RetriableError(f"{topic_partition} has no leader at the moment")
            continue
        topic, index = topic_partition
        row = ListOffsetsPartition(partition_index=index, timestamp=timestamp_ms)
        asked.setdefault(node, {}).setdefault(topic, ListOffsetsTopic(topic)).partitions.append(row)
    for node, topics in asked.items():
        request = ListOffsetsRequest(CONSUMER, int(is_read_committed), list(topics.values()))
        limit_s = deadline.for_request(cluster.settings)
        try:
            response = cluster.call(node, request, ListOffsetsResponse, timeout_s=limit_s)
            problem = _read_offsets(response, found) or problem
        except RetriableError as lost:
            problem = lost
    if problem is None and len(found) < len(timestamps_ms):
        problem = RetriableError(f"brokers answered for {len(found)} of {len(timestamps_ms)} partitions")
    return found, problem


def _read_offsets(response: ListOffsetsResponse, found: FoundOffsets) -> RetriableError | None:
    """Add what the leader knows to `found`; the return value is what to try again for."""
    problem: RetriableError | None = None
    for topic in response.topics:
        for row in topic.partitions:
            topic_partition = TopicPartition(topic.name, row.partition_index)
            if row.error_code == 0:
                found[topic_partition] = OffsetAndTimestamp(row.offset, row.timestamp)
                continue
            refusal = error_of(row.error_code, "ListOffsets", what=str(topic_partition))
            if not isinstance(refusal, RetriableError):
                raise refusal
            problem = refusal
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
    asked = list(partitions)

    def ask() -> dict[TopicPartition, OffsetAndMetadata | None]:
        return try_committed_offsets(cluster, group_id, asked, deadline, is_read_committed=is_read_committed)

    return retry(ask, cluster.settings, deadline, f"committed offsets of group '{group_id}'")


def try_committed_offsets(
    cluster: Cluster, group_id: str, asked: list[TopicPartition] | None, deadline: Deadline, *, is_read_committed: bool
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    """The same, asked once; None asks for every partition that the group has committed. Raises `RetriableError` for
    what passes."""
    topics = by_topic(asked or ())
    topic_ids = {topic: cluster.metadata.topic_id(topic) for topic in topics}
    try:
        response = cluster.call_coordinator(
            CoordinatorType.GROUP,
            group_id,
            _offset_fetch(group_id, None if asked is None else topics, topic_ids, require_stable=is_read_committed),
            OffsetFetchResponse,
            deadline=deadline,
            at_least=FIRST_VERSION_WITH_ALL_TOPICS if asked is None else 0,
            at_most=LAST_VERSION_WITH_NAMES if asked is None or NO_TOPIC_ID in topic_ids.values() else None,
        )
        found = _read_committed_offsets(response, group_id, {id_: name for name, id_ in topic_ids.items()})
        return {**dict.fromkeys(asked or ()), **found}
    except RetriableError as problem:
        if problem.error_code in FIND_COORDINATOR_AGAIN:
            cluster.forget_coordinator(CoordinatorType.GROUP, group_id)
        if problem.error_code in REFRESH_METADATA:
            cluster.refresh(topic_ids)
        raise


def _offset_fetch(
    group_id: str, indexes: Mapping[str, list[int]] | None, topic_ids: Mapping[str, UUID], *, require_stable: bool
) -> OffsetFetchRequest:
    """Up to version 7 a request is about one group, which `topics` is for; later ones have `groups`."""
    request = OffsetFetchRequest(
        group_id=group_id,
        topics=None,
        groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)],
        require_stable=require_stable,
    )
    if indexes is not None:
        request.topics = [OffsetFetchRequestTopic(name, partitions) for name, partitions in indexes.items()]
        request.groups[0].topics = [
            OffsetFetchRequestTopics(name=name, topic_id=topic_ids[name], partition_indexes=partitions)
            for name, partitions in indexes.items()
        ]
    return request


def _read_committed_offsets(
    response: OffsetFetchResponse, group_id: str, names: Mapping[UUID, str]
) -> dict[TopicPartition, OffsetAndMetadata]:
    answer = response.groups[0] if response.groups else response
    if answer.error_code:
        raise error_of(answer.error_code, "OffsetFetch", what=f"group '{group_id}'")
    found: dict[TopicPartition, OffsetAndMetadata] = {}
    for topic in answer.topics:
        topic_id = topic.topic_id if isinstance(topic, OffsetFetchResponseTopics) else NO_TOPIC_ID
        name = topic.name or names[topic_id]
        for row in topic.partitions:
            topic_partition = TopicPartition(name, row.partition_index)
            if row.error_code:
                raise error_of(row.error_code, "OffsetFetch", what=f"group '{group_id}', {topic_partition}")
            if row.committed_offset != NO_OFFSET:
                epoch = row.committed_leader_epoch
                found[topic_partition] = OffsetAndMetadata(
                    row.committed_offset, row.metadata or "", NO_LEADER_EPOCH if epoch is None else epoch
                )
    return found


def commit_request(
    offsets: Offsets, identity: ConsumerGroupMetadata, topic_ids: Mapping[str, UUID]
) -> OffsetCommitRequest:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (topic, index), committed in offsets.items():
        row = OffsetCommitRequestPartition(index, committed.offset, committed.leader_epoch, committed.metadata)
        topics.setdefault(topic, OffsetCommitRequestTopic(topic, topic_ids[topic])).partitions.append(row)
    return OffsetCommitRequest(
        group_id=identity.group_id,
        generation_id_or_member_epoch=identity.generation_id,
        member_id=identity.member_id,
        group_instance_id=identity.group_instance_id,
        topics=list(topics.values()),
    )


def read_batches(
    cluster: Cluster,
    topic_partition: TopicPartition,
    offsets: OffsetRange,
    deadline: Deadline,
    *,
    read_committed: bool,
    what: str = "records",
) -> Iterator[tuple[BatchHeader, memoryview, bool]]:
    """The batches that hold an offset of the range as far as there are any at this moment, and of each whether a
    reader of this isolation level is to pass over it."""
    at = offsets.start_offset

    def ask() -> PartitionData:
        try:
            return fetch_partition(cluster, topic_partition, at, read_committed=read_committed, deadline=deadline)
        except RetriableError:
            cluster.mark_stale()
            raise

    while at < offsets.end_offset:
        answer = retry(ask, cluster.settings, deadline, f"{what} of {topic_partition}")
        before = at
        is_filtered = FetchFilter((row.producer_id, row.first_offset) for row in answer.aborted_transactions or ())
        for header, batch in split_batches(answer.records[0] if answer.records else b"", drop_partial_tail=True):
            is_passed_over = is_filtered(header, batch)
            if header.base_offset >= offsets.end_offset:
                return
            if header.last_offset >= at:
                at = header.last_offset + 1
                yield header, batch, is_passed_over
        if at == before:
            return


def count_records(
    cluster: Cluster,
    settings: ConsumerSettings,
    topic_partition: TopicPartition,
    offsets: OffsetRange,
    deadline: Deadline,
) -> int:
    """How many records a reader still has before it within `offsets`: counted, not subtracted.

    Offsets overstate it: markers, aborted records and what compaction removed all have offsets and are never delivered.
    No request of Kafka's tells the count, so the batches from the position to the end are fetched and their headers
    added up: nothing is decompressed or decoded but the batches that the two ends cut through. It costs the transfer of
    what is left to read, and a microsecond or so for each batch; a consumer at the end costs one question.
    """
    count = 0
    batches = read_batches(
        cluster, topic_partition, offsets, deadline, read_committed=settings.is_read_committed, what="the lag"
    )
    for header, batch, is_passed_over in batches:
        if deadline.has_passed:
            raise Timeout(f"the lag of {topic_partition} did not come in time")
        if is_passed_over:
            continue
        if header.base_offset < offsets.start_offset or header.last_offset >= offsets.end_offset:
            count += sum(record.offset in offsets for record in read_records(batch))
        else:
            count += header.record_count
    return count
