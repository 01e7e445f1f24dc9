"""Who may commit offsets for a group (KIP-447 for transactions, KIP-848 and KIP-1251 for member epochs).

Kafka's rules are the same for OffsetCommit and TxnOffsetCommit but for three things: a transactional commit never
hears REBALANCE_IN_PROGRESS, needs no member at all (producers from before KIP-447 send none), and up to version 5
knows no other word for "stale" or "no such group" than ILLEGAL_GENERATION.
"""

from dataclasses import dataclass

from fencepost.errors import ErrorCode
from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerMember, TopicIdPartition
from fencepost.groups.requests import OffsetCommit, OffsetCommitTopic, TxnOffsetCommit
from fencepost.groups.states import ClassicGroupState

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
