"""Committed offsets: who may commit them (KIP-447, KIP-848, KIP-1251), and what a fetch answers.

Adding the offsets partition to the transaction, and checking the producer's epoch, is done before by the caller:
what comes here only has to be fenced by the group. Records of a TxnOffsetCommit go into a transactional batch of
that producer.

Kafka's rules are the same for OffsetCommit and TxnOffsetCommit but for three things: a transactional commit is never
answered REBALANCE_IN_PROGRESS, needs no member at all (producers from before KIP-447 send none), and knows no other
code for "stale" or "no such group" than ILLEGAL_GENERATION.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.classic_turn import ClassicTurn
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.decision import Call, Decision
from fencepost.groups.offsets import OffsetAndMetadata
from fencepost.groups.records import offset_commit_record
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.records.record import Record
from fencepost.types import NO_OFFSET, NO_TIMESTAMP, NO_TOPIC_ID, Now, TopicPartition
from fencepost.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from fencepost.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition

SINCE_MEMBER_EPOCH = 9
NO_RETENTION_TIME = -1


class OfferedOffset(NamedTuple):
    """One partition of a commit, and what became of it."""

    topic_partition: TopicPartition
    topic_id: UUID
    partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Committer:
    """Who a commit says it comes from. `generation_id` is the member epoch in a KIP-848 group."""

    generation_id: int
    member_id: str
    group_instance_id: str | None
    is_transactional: bool
    knows_member_epochs: bool

    @property
    def is_anonymous(self) -> bool:
        return self.generation_id < 0 and not self.member_id and self.group_instance_id is None


def refusal_of_commit(
    group: ClassicGroup | ConsumerGroup | None, committer: Committer, offers: Sequence[OfferedOffset]
) -> ErrorCode | None:
    if committer.generation_id < 0 and (group is None or group.is_empty):
        return None
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND if committer.knows_member_epochs else ErrorCode.ILLEGAL_GENERATION
    if isinstance(group, ConsumerGroup):
        return _refusal_by_consumer_group(group, committer, offers)
    return _refusal_by_classic_group(group, committer)


def _refusal_by_classic_group(group: ClassicGroup, committer: Committer) -> ErrorCode | None:
    if not committer.is_anonymous:
        error_code = group.refusal_of_member(committer.member_id, committer.group_instance_id, committer.generation_id)
        if error_code is not None:
            return error_code
    elif not committer.is_transactional:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if group.state is ClassicGroupState.COMPLETING_REBALANCE and not committer.is_transactional:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None


def _refusal_by_consumer_group(
    group: ConsumerGroup, committer: Committer, offers: Sequence[OfferedOffset]
) -> ErrorCode | None:
    if committer.is_transactional and committer.is_anonymous:
        return None
    member = group.members.get(committer.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not committer.is_transactional and not committer.knows_member_epochs:
        return ErrorCode.UNSUPPORTED_VERSION
    if not _may_commit(group, member, committer.generation_id, offers):
        return ErrorCode.STALE_MEMBER_EPOCH if committer.knows_member_epochs else ErrorCode.ILLEGAL_GENERATION
    return None


def _may_commit(
    group: ConsumerGroup, member: ConsumerMember, member_epoch: int, offers: Sequence[OfferedOffset]
) -> bool:
    """KIP-1251: an older epoch is good enough for partitions that the member has held since."""
    if not 0 <= member_epoch < member.member_epoch:
        return member_epoch == member.member_epoch
    held = {**member.pending_revocation, **member.assigned}
    for (topic, partition), _, _, _ in offers:
        metadata = group.subscription_metadata.get(topic)
        assigned_in = None if metadata is None else held.get(TopicIdPartition(metadata.topic_id, partition))
        if assigned_in is None or member_epoch < assigned_in:
            return False
    return True


Committed = tuple[Decision, list[OfferedOffset]]


def decide_offset_commit(state: GroupsState, call: Call, offers: Sequence[OfferedOffset]) -> Committed:
    """`offers` are the partitions of the request that exist."""
    request: OffsetCommitRequest = call.request
    committer = Committer(
        generation_id=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        is_transactional=False,
        knows_member_epochs=call.api_version >= SINCE_MEMBER_EPOCH,
    )
    expire_timestamp_ms = NO_TIMESTAMP
    if request.retention_time_ms != NO_RETENTION_TIME:
        expire_timestamp_ms = call.now.wall_ms + request.retention_time_ms
    return _commit(state, call, committer, offers, expire_timestamp_ms)


def decide_txn_offset_commit(state: GroupsState, call: Call, offers: Sequence[OfferedOffset]) -> Committed:
    request: TxnOffsetCommitRequest = call.request
    committer = Committer(
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        is_transactional=True,
        knows_member_epochs=False,
    )
    return _commit(state, call, committer, offers, NO_TIMESTAMP)


def all_failed(offers: Sequence[OfferedOffset], error_code: ErrorCode) -> list[OfferedOffset]:
    return [offer._replace(error_code=error_code) for offer in offers]


def _commit(
    state: GroupsState,
    call: Call,
    committer: Committer,
    offers: Sequence[OfferedOffset],
    expire_timestamp_ms: int,
) -> Committed:
    group_id = call.request.group_id
    group = state.find(group_id)
    is_one_too_many = group is None and state.is_full
    refusal = ErrorCode.POLICY_VIOLATION if is_one_too_many else refusal_of_commit(group, committer, offers)
    if refusal is not None:
        return Decision(group_id), all_failed(offers, refusal)
    records: list[Record] = []
    committed = []
    for offer in offers:
        metadata = offer.partition.committed_metadata or ""
        # Kafka counts characters here, whatever the setting's name says.
        if len(metadata) > state.settings.offset_metadata_max_bytes:
            committed.append(offer._replace(error_code=ErrorCode.OFFSET_METADATA_TOO_LARGE))
            continue
        offset = OffsetAndMetadata(
            committed_offset=offer.partition.committed_offset,
            leader_epoch=offer.partition.committed_leader_epoch,
            metadata=metadata,
            commit_timestamp_ms=call.now.wall_ms,
            expire_timestamp_ms=expire_timestamp_ms,
            topic_id=offer.topic_id,
        )
        records.append(offset_commit_record(group_id, offer.topic_partition, offset))
        committed.append(offer)
    memory = None if committer.is_transactional else _renewed_session(state, group, committer.member_id, call.now)
    return Decision(group_id, tuple(records), memory=memory), committed


def _renewed_session(
    state: GroupsState, group: ClassicGroup | ConsumerGroup | None, member_id: str, now: Now
) -> ClassicGroup | None:
    """A commit shows that a member of a classic group is alive."""
    if not isinstance(group, ClassicGroup) or member_id not in group.members:
        return None
    if group.state not in (ClassicGroupState.STABLE, ClassicGroupState.PREPARING_REBALANCE):
        return None
    turn = ClassicTurn(group, now=now, settings=state.settings)
    turn.renew_session(member_id)
    return turn.group


def fetch_offsets(
    state: GroupsState, request: OffsetFetchRequestGroup, *, require_stable: bool
) -> OffsetFetchResponseGroup:
    """One group of an OffsetFetch. A read: the caller lets the reply leave when what it shows is synced.

    `require_stable` answers UNSTABLE_OFFSET_COMMIT for a partition with an offset that waits for its transaction.
    Without it, the last committed value is answered with no hint of what is pending. Topics come with their names.
    """
    refusal = _refusal_of_fetch(state, request)
    if refusal is not None:
        return OffsetFetchResponseGroup(request.group_id, error_code=refusal)
    topics = _every_topic(state, request.group_id) if request.topics is None else request.topics
    fetched = [
        OffsetFetchResponseTopics(
            topic.name,
            topic.topic_id,
            [_fetch(state, request.group_id, topic, index, require_stable) for index in topic.partition_indexes],
        )
        for topic in topics
    ]
    return OffsetFetchResponseGroup(request.group_id, fetched)


def _refusal_of_fetch(state: GroupsState, request: OffsetFetchRequestGroup) -> ErrorCode | None:
    """Only members of KIP-848 groups say who they are."""
    group = state.consumer.get(request.group_id)
    if group is None or (request.member_id is None and request.member_epoch < 0):
        return None
    member = group.members.get(request.member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return None if member.member_epoch == request.member_epoch else ErrorCode.STALE_MEMBER_EPOCH


def _every_topic(state: GroupsState, group_id: str) -> list[OffsetFetchRequestTopics]:
    partitions: dict[str, list[int]] = {}
    for topic, partition in sorted(state.offsets.committed(group_id)):
        partitions.setdefault(topic, []).append(partition)
    return [OffsetFetchRequestTopics(name=topic, partition_indexes=indexes) for topic, indexes in partitions.items()]


def _fetch(
    state: GroupsState, group_id: str, topic: OffsetFetchRequestTopics, index: int, require_stable: bool
) -> OffsetFetchResponsePartitions:
    topic_partition = TopicPartition(topic.name, index)
    if require_stable and state.offsets.has_pending(group_id, topic_partition):
        return OffsetFetchResponsePartitions(index, NO_OFFSET, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    offset = state.offsets.committed(group_id).get(topic_partition)
    # A topic that was deleted and created again under the same name does not inherit offsets.
    if offset is None or (NO_TOPIC_ID not in (offset.topic_id, topic.topic_id) and offset.topic_id != topic.topic_id):
        return OffsetFetchResponsePartitions(index, NO_OFFSET)
    return OffsetFetchResponsePartitions(index, offset.committed_offset, offset.leader_epoch, offset.metadata)
