"""OffsetCommit and TxnOffsetCommit, all versions: the group's side of it.

Adding the offsets partition to the transaction, and checking the producer's epoch, is done before by the caller:
what comes here only has to be fenced by the group. Records of a TxnOffsetCommit go into a transactional batch of
that producer.
"""

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.classic_turn import ClassicTurn
from fencepost.groups.decision import Decision, Now, Record, Reply, answer
from fencepost.groups.member import Token
from fencepost.groups.offset_fencing import committer_of, refusal_of_commit
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import offset_commit_record
from fencepost.groups.replies import OffsetCommitReply, PartitionError, TopicErrors
from fencepost.groups.requests import OffsetCommit, OffsetCommitPartition, OffsetCommitTopic, TxnOffsetCommit
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.types import NO_TIMESTAMP, TopicPartition

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
