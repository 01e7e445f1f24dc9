"""OffsetCommit and TxnOffsetCommit, all versions: the group's side of it.

Adding the offsets partition to the transaction, and checking the producer's epoch, is done before by the caller:
what comes here only has to be fenced by the group. Records of a TxnOffsetCommit go into a transactional batch of
that producer.
"""

from dataclasses import dataclass

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup, Token
from fencepost.groups.classic_turn import ClassicTurn
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.decision import Decision, Record, Reply, answer
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import offset_commit_record
from fencepost.groups.replies import (
    OffsetCommitReply,
    OffsetFetchPartition,
    OffsetFetchReply,
    OffsetFetchReplyTopic,
    PartitionError,
    TopicErrors,
)
from fencepost.groups.requests import (
    OffsetCommit,
    OffsetCommitPartition,
    OffsetCommitTopic,
    OffsetFetch,
    OffsetFetchTopic,
    TxnOffsetCommit,
)
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.types import NO_TIMESTAMP, NO_TOPIC_ID, Now, TopicPartition

# Who may commit offsets for a group (KIP-447 for transactions, KIP-848 and KIP-1251 for member epochs).
#
# Kafka's rules are the same for OffsetCommit and TxnOffsetCommit but for three things: a transactional commit never
# hears REBALANCE_IN_PROGRESS, needs no member at all (producers from before KIP-447 send none), and up to version 5
# knows no other word for "stale" or "no such group" than ILLEGAL_GENERATION.


OFFSET_COMMIT_SINCE_MEMBER_EPOCH = 9
TXN_OFFSET_COMMIT_SINCE_MEMBER_EPOCH = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Committer:
    """Who a commit says it comes from. `generation_id` is the member epoch in a KIP-848 group."""

    generation_id: int
    member_id: str
    group_instance_id: str | None
    is_transactional: bool
    knows_member_epochs: bool
    topics: tuple[OffsetCommitTopic, ...]

    @property
    def is_anonymous(self) -> bool:
        return self.generation_id < 0 and not self.member_id and self.group_instance_id is None


def committer_of(request: OffsetCommit | TxnOffsetCommit) -> Committer:
    if isinstance(request, OffsetCommit):
        generation_id = request.generation_id_or_member_epoch
        knows_member_epochs = request.api_version >= OFFSET_COMMIT_SINCE_MEMBER_EPOCH
    else:
        generation_id = request.generation_id
        knows_member_epochs = request.api_version >= TXN_OFFSET_COMMIT_SINCE_MEMBER_EPOCH
    return Committer(
        generation_id=generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        is_transactional=isinstance(request, TxnOffsetCommit),
        knows_member_epochs=knows_member_epochs,
        topics=request.topics,
    )


def refusal_of_commit(group: ClassicGroup | ConsumerGroup | None, committer: Committer) -> ErrorCode | None:
    if group is None:
        if committer.generation_id < 0:
            return None
        return ErrorCode.GROUP_ID_NOT_FOUND if committer.knows_member_epochs else ErrorCode.ILLEGAL_GENERATION
    if isinstance(group, ConsumerGroup):
        return _refusal_by_consumer_group(group, committer)
    return _refusal_by_classic_group(group, committer)


def _refusal_by_classic_group(group: ClassicGroup, committer: Committer) -> ErrorCode | None:
    if committer.generation_id < 0 and group.is_empty:
        return None
    if not committer.is_anonymous:
        error_code = group.refusal_of_member(committer.member_id, committer.group_instance_id)
        if error_code is not None:
            return error_code
        if committer.generation_id != group.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
    elif not committer.is_transactional:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if group.state is ClassicGroupState.COMPLETING_REBALANCE and not committer.is_transactional:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None


def _refusal_by_consumer_group(group: ConsumerGroup, committer: Committer) -> ErrorCode | None:
    if committer.generation_id < 0 and group.is_empty:
        return None
    if committer.is_transactional and committer.is_anonymous:
        return None
    member = group.members.get(committer.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not committer.is_transactional and not committer.knows_member_epochs:
        return ErrorCode.UNSUPPORTED_VERSION
    if committer.generation_id != member.member_epoch and not _may_commit_late(group, member, committer):
        return ErrorCode.STALE_MEMBER_EPOCH if committer.knows_member_epochs else ErrorCode.ILLEGAL_GENERATION
    return None


def _may_commit_late(group: ConsumerGroup, member: ConsumerMember, committer: Committer) -> bool:
    """KIP-1251: an older epoch is good enough for partitions that the member has held since."""
    if not 0 <= committer.generation_id < member.member_epoch:
        return False
    held = {**member.pending_revocation, **member.assigned}
    for topic in committer.topics:
        metadata = group.subscription_metadata.get(topic.name)
        if metadata is None:
            return False
        for partition in topic.partitions:
            assignment_epoch = held.get(TopicIdPartition(metadata.topic_id, partition.partition_index))
            if assignment_epoch is None or committer.generation_id < assignment_epoch:
                return False
    return True


NO_RETENTION_TIME = -1


def decide_offset_commit(state: GroupsState, request: OffsetCommit, *, token: Token, now: Now) -> Decision:
    refusal = _refusal(state, request)
    if refusal is not None:
        return answer(request.group_id, token, _all_failed(request.topics, refusal))
    expire_timestamp_ms = NO_TIMESTAMP
    if request.retention_time_ms != NO_RETENTION_TIME:
        expire_timestamp_ms = now.wall_ms + request.retention_time_ms
    records, reply = _commit(state, request, now, expire_timestamp_ms)
    return Decision(request.group_id, records, (Reply(token, reply),), memory=_renewed_session(state, request, now))


def decide_txn_offset_commit(state: GroupsState, request: TxnOffsetCommit, *, token: Token, now: Now) -> Decision:
    refusal = _refusal(state, request)
    if refusal is not None:
        return answer(request.group_id, token, _all_failed(request.topics, refusal))
    records, reply = _commit(state, request, now, NO_TIMESTAMP)
    return Decision(request.group_id, records, (Reply(token, reply),))


def _refusal(state: GroupsState, request: OffsetCommit | TxnOffsetCommit) -> ErrorCode | None:
    if not request.group_id and isinstance(request, TxnOffsetCommit):
        return ErrorCode.INVALID_GROUP_ID
    group = state.find(request.group_id)
    if group is None and state.is_full:
        return ErrorCode.POLICY_VIOLATION
    return refusal_of_commit(group, committer_of(request))


def _all_failed(topics: tuple[OffsetCommitTopic, ...], error_code: ErrorCode) -> OffsetCommitReply:
    return OffsetCommitReply(
        tuple(
            TopicErrors(
                topic.name,
                tuple(PartitionError(partition.partition_index, error_code) for partition in topic.partitions),
                topic.topic_id,
            )
            for topic in topics
        )
    )


def _commit(
    state: GroupsState, request: OffsetCommit | TxnOffsetCommit, now: Now, expire_timestamp_ms: int
) -> tuple[tuple[Record, ...], OffsetCommitReply]:
    records: list[Record] = []

    def commit(topic: OffsetCommitTopic, partition: OffsetCommitPartition) -> PartitionError:
        metadata = partition.committed_metadata or ""
        # Kafka counts characters here, whatever the setting's name says.
        if len(metadata) > state.settings.offset_metadata_max_bytes:
            return PartitionError(partition.partition_index, ErrorCode.OFFSET_METADATA_TOO_LARGE)
        offset = OffsetAndMetadata(
            committed_offset=partition.committed_offset,
            leader_epoch=partition.committed_leader_epoch,
            metadata=metadata,
            commit_timestamp_ms=now.wall_ms,
            expire_timestamp_ms=expire_timestamp_ms,
            topic_id=topic.topic_id,
        )
        key = TopicPartition(topic.name, partition.partition_index)
        records.append(offset_commit_record(request.group_id, key, offset))
        return PartitionError(partition.partition_index)

    topics = tuple(
        TopicErrors(topic.name, tuple(commit(topic, partition) for partition in topic.partitions), topic.topic_id)
        for topic in request.topics
    )
    return tuple(records), OffsetCommitReply(topics)


def _renewed_session(state: GroupsState, request: OffsetCommit, now: Now) -> ClassicGroup | None:
    """A commit shows that a member of a classic group is alive."""
    group = state.classic.get(request.group_id)
    if group is None or request.member_id not in group.members:
        return None
    if group.state not in (ClassicGroupState.STABLE, ClassicGroupState.PREPARING_REBALANCE):
        return None
    turn = ClassicTurn(group, now=now, settings=state.settings)
    turn.renew_session(request.member_id)
    return turn.group


def fetch_offsets(state: GroupsState, request: OffsetFetch) -> OffsetFetchReply:
    refusal = _fetch_refusal(state, request)
    if refusal is not None:
        return OffsetFetchReply(group_id=request.group_id, error_code=refusal)
    topics = _every_topic(state, request.group_id) if request.topics is None else request.topics
    return OffsetFetchReply(group_id=request.group_id, topics=tuple(_fetch(state, request, topic) for topic in topics))


def _fetch_refusal(state: GroupsState, request: OffsetFetch) -> ErrorCode | None:
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
