"""OffsetFetch, all versions: one group of a request. A read: nothing is decided.

`require_stable` answers UNSTABLE_OFFSET_COMMIT for a partition with an offset that waits for its transaction.
Without it, the last committed value is answered with no hint of what is pending. The caller lets the reply leave
when what it shows is synced.
"""

from fencepost.errors import ErrorCode
from fencepost.groups.consumer_group import ConsumerGroup
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.replies import OffsetFetchPartition, OffsetFetchReply, OffsetFetchReplyTopic
from fencepost.groups.requests import OffsetFetch, OffsetFetchTopic
from fencepost.groups.state import GroupsState
from fencepost.types import NO_TOPIC_ID, TopicPartition


def fetch_offsets(state: GroupsState, request: OffsetFetch) -> OffsetFetchReply:
    refusal = _refusal(state, request)
    if refusal is not None:
        return OffsetFetchReply(group_id=request.group_id, error_code=refusal)
    topics = _every_topic(state, request.group_id) if request.topics is None else request.topics
    return OffsetFetchReply(group_id=request.group_id, topics=tuple(_fetch(state, request, topic) for topic in topics))


def _refusal(state: GroupsState, request: OffsetFetch) -> ErrorCode | None:
    """Only members of KIP-848 groups say who they are."""
    group = state.find(request.group_id)
    if not isinstance(group, ConsumerGroup) or (request.member_id is None and request.member_epoch < 0):
        return None
    member = group.members.get(request.member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return None if member.member_epoch == request.member_epoch else ErrorCode.STALE_MEMBER_EPOCH


def _every_topic(state: GroupsState, group_id: str) -> tuple[OffsetFetchTopic, ...]:
    partitions: dict[str, list[int]] = {}
    for topic, partition in sorted(state.offsets.committed(group_id)):
        partitions.setdefault(topic, []).append(partition)
    return tuple(OffsetFetchTopic(topic, tuple(indexes)) for topic, indexes in partitions.items())


def _fetch(state: GroupsState, request: OffsetFetch, topic: OffsetFetchTopic) -> OffsetFetchReplyTopic:
    committed = state.offsets.committed(request.group_id)

    def fetch(partition_index: int) -> OffsetFetchPartition:
        partition = TopicPartition(topic.name, partition_index)
        if request.require_stable and state.offsets.has_pending(request.group_id, partition):
            return OffsetFetchPartition(partition_index, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
        offset = committed.get(partition)
        if offset is None or _is_of_another_topic(offset, topic):
            return OffsetFetchPartition(partition_index)
        return OffsetFetchPartition(partition_index, offset.committed_offset, offset.leader_epoch, offset.metadata)

    return OffsetFetchReplyTopic(topic.name, tuple(map(fetch, topic.partition_indexes)), topic.topic_id)


def _is_of_another_topic(offset: OffsetAndMetadata, topic: OffsetFetchTopic) -> bool:
    """A topic that was deleted and created again under the same name does not inherit offsets."""
    return NO_TOPIC_ID not in (offset.topic_id, topic.topic_id) and offset.topic_id != topic.topic_id
